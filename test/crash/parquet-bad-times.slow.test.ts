import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { suite, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { openAppender } from '../../src/log/append.ts'
import { parquetFolder } from '../../src/log/parquet/parquet-folder.ts'
import { createStore, openForWriting, storePath } from '../../src/log/store/store.ts'
import { HOUR_MS } from '../../src/protocol/moment.ts'
import { skipWithout } from '../processes/test-needs.ts'
import { every, publish } from '../stage/archive-node.ts'
import { startNode } from '../stage/node-process.ts'
import { TEST_KEY, testSigner } from '../story/signing.ts'
import { withShim } from '../torture/store/io-shim.ts'
import { linesByHyparquet } from '../parquet/parquet-lines.ts'

const MONTH = '/api/v1/archive/2026-09'

suite('the Parquet file of a month', { skip: skipWithout('cc') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-parquet-'))
  test.after(() => rmSync(folder, { recursive: true }))

  /** A data directory whose September has 60,000 events. */
  function dataDirectory(name: string): string {
    const data = join(folder, name)
    const chain = { origin: 'localhost/parquet', chain: 'opaque', simulated: true } as const
    rmSync(data, { recursive: true, force: true })
    createStore(storePath(data), chain)
    const db = openForWriting(storePath(data))
    const appender = openAppender(db, testSigner(db))
    publish(appender, every(1_000, 60_000, Date.UTC(2026, 8, 1)))
    publish(appender, [Date.UTC(2026, 9, 1) + HOUR_MS])
    db.close()
    writeFileSync(`${data}.key`, TEST_KEY.privateKey.export({ type: 'pkcs8', format: 'pem' }), {
      mode: 0o600,
    })
    return data
  }

  const filesIn = (data: string): readonly string[] =>
    existsSync(parquetFolder(data)) ? readdirSync(parquetFolder(data)) : []

  async function assertServed(url: string): Promise<void> {
    const file = Buffer.from(await (await fetch(`${url}${MONTH}.parquet`)).arrayBuffer())
    const lines = await fetch(`${url}${MONTH}.jsonl.gz`).then((answer) => answer.arrayBuffer())
    const rows = await linesByHyparquet(file)
    assert.equal(rows.map(({ line }) => `${line}\n`).join(''), gunzipSync(lines).toString())
  }

  test('is not made on a full disk: a clear 503, no file, and all else goes on', async () => {
    const data = dataDirectory('full')
    const failing = `${data}.failing`
    writeFileSync(failing, '')
    const fail = { at: 1, error: 'ENOSPC', times: 1_000_000 } as const
    const shim = withShim({
      root: data,
      calls: ['pwrite'],
      files: ['2026-09.making'],
      onlyWhile: failing,
      fail,
    })
    const node = await startNode(data, [], shim)
    for (let times = 0; times < 2; times += 1) {
      const answer = await fetch(`${node.url}${MONTH}.parquet`)
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '60'])
      const { code, detail } = (await answer.json()) as { code: string; detail: string }
      assert.equal(code, 'not-made')
      assert.match(detail, /too little room/)
    }
    assert.deepEqual(filesIn(data), [])
    assert.equal((await fetch(`${node.url}${MONTH}.jsonl.gz`)).status, 200)
    assert.equal((await node.publish([{ ref: 'one', type: 'trade', kind: 'buy', kots: '1' }])).status, 200)
    const { code } = await node.end('SIGTERM')
    assert.equal(code, 0, node.stderr())
    assert.match(node.stderr(), /"fact":"parquet-failed","month":"2026-09","reason":"the disk is full"/)
    rmSync(failing)
    const again = await startNode(data)
    await assertServed(again.url)
    await again.end('SIGTERM')
  })

  test('is made again after a kill in the middle, of which nothing stays', async () => {
    const data = dataDirectory('killed')
    const node = await startNode(data)
    const asked = fetch(`${node.url}${MONTH}.parquet`).catch(() => undefined)
    while (!filesIn(data).some((name) => name.endsWith('.making'))) await turn()
    await node.end('SIGKILL')
    await asked
    assert.deepEqual(filesIn(data), ['2026-09.making'])
    const again = await startNode(data)
    await assertServed(again.url)
    assert.equal(filesIn(data).length, 1)
    assert.match(filesIn(data)[0] ?? '', /\.parquet$/)
    await again.end('SIGTERM')
  })
})
