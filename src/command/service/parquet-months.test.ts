import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { Registry } from 'prom-client'
import { parquetFolder } from '../../log/parquet/parquet-folder.ts'
import { monthOf, msOf } from '../../protocol/moment.ts'
import { type ArchiveNode, FOUR_MONTHS, openArchiveNode } from '../../../test/stage/archive-node.ts'
import { openLines } from '../log-lines/log-lines.ts'
import { openParquetMonths } from './parquet-months.ts'

const SEPTEMBER = monthOf(msOf(Date.UTC(2026, 8, 1)))

suite('the Parquet files of a process', () => {
  let node: ArchiveNode
  before(async () => {
    node = await openArchiveNode(FOUR_MONTHS)
  })
  after(() => node[Symbol.asyncDispose]())

  /** Opens the files, with the facts of their lines. */
  function open(): Readonly<{ months: ReturnType<typeof openParquetMonths>; facts: string[] }> {
    const facts: string[] = []
    const choice = { level: 'debug', callers: false } as const
    const monotonicMs = (): number => performance.now()
    const lines = openLines((fact) => facts.push(fact), monotonicMs, choice)
    const parts = { data: node.directory, lines, registry: new Registry(), monotonicMs }
    return { months: openParquetMonths(parts), facts }
  }

  test('are made once for all who ask, and a damaged one again', async () => {
    const { months, facts } = open()
    await using _ = months
    const [made, same] = await Promise.all([months.file(SEPTEMBER), months.file(SEPTEMBER)])
    assert.ok(typeof made === 'object')
    assert.equal(made, same)
    assert.equal(await months.file(SEPTEMBER), made)
    assert.deepEqual(facts, ['parquet-made'])
    writeFileSync(made.path, 'PAR1')
    months.lost(made)
    assert.deepEqual(await months.file(SEPTEMBER), made)
    assert.deepEqual(facts, ['parquet-made', 'parquet-damaged', 'parquet-made'])
  })

  test('are read and not made after a start, which removes what a killed process left', async () => {
    const folder = parquetFolder(node.directory)
    writeFileSync(join(folder, '2026-09.making'), 'PAR1')
    mkdirSync(join(folder, '2026-08.making'))
    {
      const { months, facts } = open()
      await using _ = months
      assert.ok(typeof (await months.file(SEPTEMBER)) === 'object')
      assert.deepEqual(facts, [])
    }
    assert.ok(readdirSync(folder).every((name) => name.endsWith('.parquet')))
  })

  test('are not made while something is in the way, which one line says and no stop minds', async () => {
    const folder = parquetFolder(node.directory)
    rmSync(folder, { recursive: true })
    writeFileSync(folder, '')
    const { months, facts } = open()
    for (let asked = 0; asked < 3; asked += 1) assert.equal(await months.file(SEPTEMBER), 'failed')
    assert.deepEqual(facts, ['parquet-failed'])
    await months[Symbol.asyncDispose]()
    rmSync(folder)
  })

  test('are no longer made when the service stops', async () => {
    const { months } = open()
    const asked = months.file(monthOf(msOf(Date.UTC(2026, 7, 30))))
    const refused = assert.rejects(asked)
    await months[Symbol.asyncDispose]()
    await refused
    await assert.rejects(months.file(SEPTEMBER))
  })
})
