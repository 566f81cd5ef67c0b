import { after } from 'node:test'
import { hasPostgres } from '../../database/postgres-server.ts'
import { skipUnless } from '../../processes/test-needs.ts'
import { testTableConformance } from './conformance.ts'
import { testTablePooler } from './pooled-table-cases.ts'
import { testTableFaults } from './postgres-table-faults.ts'
import { testTableGuards } from './postgres-table-guards.ts'
import { openPostgresTableRig, type PostgresTableRig } from './postgres-table-rig.ts'

/** The suites of this file share two servers, and run one after the other. */
let opened: Promise<PostgresTableRig> | undefined
const openShared = (): Promise<PostgresTableRig> => (opened ??= openPostgresTableRig())
after(async () => (await opened)?.[Symbol.asyncDispose]())

const skip = skipUnless(hasPostgres, 'postgresql')

testTableConformance('a table of PostgreSQL', openShared, skip)
testTableGuards(openShared, skip)
testTablePooler(openShared, skip)
testTableFaults(openShared, skip)
