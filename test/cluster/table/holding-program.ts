import { createInterface } from 'node:readline'
import { openLogTable } from '../../../src/cluster/table/open-table.ts'
import { parseDatabaseUrl } from '../../../src/command/database/database-url.ts'
import { tableOptions } from './postgres-table-rig.ts'

/** Leads the table at the address of its first argument, and appends row 1 when it reads a line. */
const table = openLogTable(parseDatabaseUrl(process.argv[2] ?? '', null), tableOptions())
const lead = await table.lead(0)
process.stdout.write(lead === null ? 'not leading\n' : 'leading\n')
for await (const _ of createInterface({ input: process.stdin })) {
  process.stdout.write(`answer ${await lead?.append(1, new TextEncoder().encode('late'))}\n`)
}
