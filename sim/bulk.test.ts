import assert from 'node:assert/strict'
import { PassThrough, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { suite, test } from 'node:test'
import { MINUTE_MS, msOf } from '../src/protocol/moment.ts'
import { openAuditor } from '../test/oracle/draft-auditor.ts'
import { bulkLines } from './bulk.ts'
import { writeDrafts } from './draft-file.ts'
import type { ImportDraft } from './import-draft.ts'

const YEARS = { seed: 'load', from: msOf(Date.UTC(2023, 0, 1)), to: msOf(Date.UTC(2026, 0, 1)) }

suite('drafts for load', () => {
  for (const count of [1, 100, 1000, 50_000, 120_000]) {
    test(`are exactly ${count} and keep every rule of the log`, () => {
      const auditor = openAuditor()
      let lines = 0
      for (const line of bulkLines({ ...YEARS, count })) {
        auditor.take(JSON.parse(line) as ImportDraft)
        lines++
      }
      assert.equal(lines, count)
      if (count < 50_000) return
      for (const name of [
        'play/vote',
        'payout/winner',
        'prize/winner',
        'contest/paid',
        'price/usd',
        'pool/returned',
      ]) {
        assert.ok((auditor.counts.get(name) ?? 0) > 0, `no ${name}`)
      }
    })
  }

  test('are the same for the same seed', () => {
    assert.deepEqual([...bulkLines({ ...YEARS, count: 500 })], [...bulkLines({ ...YEARS, count: 500 })])
    assert.notDeepEqual(
      [...bulkLines({ ...YEARS, count: 500 })],
      [...bulkLines({ ...YEARS, seed: 'x', count: 500 })],
    )
  })

  test('cover the whole range, several in a minute', () => {
    const moments = Array.from(bulkLines({ ...YEARS, count: 24_000 }), (line) =>
      Date.parse((JSON.parse(line) as ImportDraft).at),
    )
    assert.ok((moments[0] ?? 0) >= YEARS.from && (moments.at(-1) ?? 0) < YEARS.to)
    assert.ok((moments.at(-1) ?? 0) > YEARS.to - 48 * 60 * MINUTE_MS)
    const minutes = new Set(moments.map((ms) => Math.floor(ms / MINUTE_MS)))
    assert.ok(minutes.size < 24_000 / 8, `${minutes.size} minutes`)
  })
})

suite('a file of drafts', () => {
  const lines = [...bulkLines({ ...YEARS, count: 3000 })]

  test('is JSON lines, of drafts or of lines', async () => {
    const drafts = lines.map((line) => JSON.parse(line) as ImportDraft)
    for (const given of [lines, drafts]) {
      const stream = new PassThrough()
      const [bytes, count] = await Promise.all([buffer(stream), writeDrafts(stream, given)])
      assert.equal(count, lines.length)
      assert.equal(bytes.toString(), `${lines.join('\n')}\n`)
    }
  })

  test('is written no faster than the stream accepts it', async () => {
    let made = 0
    let mostAhead = 0
    let written = 0
    const slow = new Writable({
      highWaterMark: 1024,
      write(chunk: Buffer, _encoding, done) {
        written += chunk.toString().split('\n').length - 1
        mostAhead = Math.max(mostAhead, made - written)
        setImmediate(done)
      },
    })
    const counted = function* (): Generator<string> {
      for (const line of bulkLines({ ...YEARS, count: 60_000 })) {
        made++
        yield line
      }
    }
    await writeDrafts(slow, counted())
    assert.equal(written, 60_000)
    assert.ok(mostAhead < 10_000, `${mostAhead} lines ahead`)
  })
})
