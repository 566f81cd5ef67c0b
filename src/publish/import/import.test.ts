import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { jsonl, NOW_MS, openImportStage, opening, plays } from '../../../test/stage/import-stage.ts'
import { openAppender } from '../../log/append.ts'
import { openReader } from '../../log/open-reader.ts'
import { lockDirectory, LockedError } from '../../log/store/lock.ts'
import { openForWriting, storePath } from '../../log/store/store.ts'
import { billionths } from '../../protocol/amount.ts'
import type { Draft } from '../../protocol/draft.ts'
import type { EventWire } from '../../protocol/event.ts'
import { formatAt, msOf } from '../../protocol/moment.ts'
import type { ImportProgress } from './import.ts'
import { testSigner } from '../../../test/story/signing.ts'

const eventOf = (line: string | undefined): EventWire => JSON.parse(line ?? '') as EventWire

const CHILD = join(import.meta.dirname, '..', '..', '..', 'test', 'stage', 'import-child.ts')

const DEPOSIT: Draft = {
  ref: null,
  atMs: null,
  type: 'treasury',
  kind: 'deposit',
  contestId: null,
  kots: billionths(5n),
  tx: null,
  details: null,
}

suite('an import', () => {
  test('makes a new log with the drafts of a file, in their order and at their moments', async () => {
    await using stage = await openImportStage()
    const drafts = [...opening(), ...plays(3)]
    const outcome = await stage.import([stage.file('history.jsonl', jsonl(drafts))])
    assert.ok(outcome.ok)
    const { seconds, ...rest } = outcome
    assert.ok(seconds > 0)
    assert.deepEqual(rest, { ok: true, events: 7, duplicates: 0, irregular: 0, firstSeq: 1, lastSeq: 7 })
    assert.deepEqual(Object.keys(stage.contents()), ['daybook.db', 'high-water', 'lock'])
    const events = stage.lines().map(eventOf)
    assert.deepEqual(
      events.map(({ seq, at, type, kind }) => ({ seq, at, type, kind })),
      drafts.map(({ at, type, kind }, index) => ({ seq: index + 1, at, type, kind })),
    )
  })

  test('gives the new log the given origin and chain', async () => {
    await using stage = await openImportStage()
    await stage.begin(opening())
    const reader = openReader(stage.data, null)
    const { origin, chain, simulated } = reader.identity
    reader.close()
    assert.deepEqual(
      { origin, chain, simulated },
      { origin: 'daybook.example/log', chain: 'opaque', simulated: false },
    )
  })

  test('takes several files, plain and gzip, as one sequence in the order given', async () => {
    await using stage = await openImportStage()
    const first = stage.file('2.gz', gzipSync(jsonl(opening())))
    const second = stage.file('1.jsonl', jsonl(plays(2)))
    // Several members joined are one gzip file.
    const third = stage.file('3', Buffer.concat([gzipSync(jsonl(plays(1, 3))), gzipSync(jsonl(plays(1, 4)))]))
    const outcome = await stage.import([first, second, third])
    assert.ok(outcome.ok)
    assert.equal(outcome.events, 8)
    assert.deepEqual(
      stage
        .lines()
        .slice(-4)
        .map((line) => eventOf(line).kots),
      ['1.250000000', '2.250000000', '3.250000000', '4.250000000'],
    )
  })

  for (const [form, packed] of [
    ['plain', (text: string) => text],
    ['gzip', (text: string) => gzipSync(text)],
  ] as const) {
    test(`takes standard input, ${form}, through a pipe`, async () => {
      await using stage = await openImportStage()
      const child = spawn(process.execPath, [CHILD, 'nowhere', '0', '-', stage.data], {
        stdio: ['pipe', 'ignore', 'inherit'],
      })
      child.stdin.end(packed(jsonl([...opening(), ...plays(2_000)])))
      await once(child, 'exit')
      assert.equal(child.exitCode, 0)
      assert.equal(stage.lines().length, 2_004)
    })
  }

  test('skips blank lines, a byte order mark and carriage returns, and needs no last line feed', async () => {
    await using stage = await openImportStage()
    const text = jsonl(opening()).trimEnd().split('\n').join('\r\n\r\n  \n')
    const outcome = await stage.import([stage.file('windows.jsonl', `\uFEFF${text}`)])
    assert.ok(outcome.ok)
    assert.equal(outcome.events, 4)
  })

  test('stores no refs when the drafts have none', async () => {
    await using stage = await openImportStage()
    const drafts = opening().map(({ ref: _ref, ...rest }) => rest)
    await stage.begin(drafts)
    assert.equal(stage.lines().length, 4)
  })

  test('continues an existing log after its head, and keeps all its lines', async () => {
    await using stage = await openImportStage()
    await stage.begin([...opening(), ...plays(5)])
    const before = stage.lines()
    const outcome = await stage.import([stage.file('more.jsonl', jsonl(plays(6, 6)))])
    assert.ok(outcome.ok)
    assert.deepEqual([outcome.firstSeq, outcome.lastSeq, outcome.events], [10, 15, 6])
    assert.deepEqual(stage.lines().slice(0, 9), before)
    assert.equal(stage.lines().length, 15)
  })

  test('leaves a log that knows its refs and that a writer can continue', async () => {
    await using stage = await openImportStage()
    await stage.begin([...opening(), ...plays(600)])
    const db = openForWriting(storePath(stage.data))
    const appender = openAppender(db, testSigner(db))
    assert.equal(appender.published('p600')?.seq, 604)
    appender.begin()
    appender.append(DEPOSIT, { ref: 'later', digest: new Uint8Array(16) }, msOf(NOW_MS))
    appender.write()
    assert.equal(appender.commit().seq, 605)
    db.close()
    assert.equal(eventOf(stage.lines()[604]).kots, '0.000000005')
  })

  test('keeps events that a killed server left in the write-ahead log', async () => {
    await using stage = await openImportStage()
    await using copy = await openImportStage()
    await stage.begin(opening())
    const db = openForWriting(storePath(stage.data))
    const appender = openAppender(db, testSigner(db))
    appender.begin()
    appender.append(DEPOSIT, null, msOf(Date.UTC(2026, 0, 1, 12)))
    appender.write()
    appender.commit()
    // The files of a killed process: the last commit is only in the write-ahead log.
    cpSync(stage.data, copy.data, { recursive: true })
    db.close()
    const outcome = await copy.import([copy.file('more.jsonl', jsonl(plays(2)))])
    assert.ok(outcome.ok)
    assert.deepEqual([outcome.firstSeq, outcome.lastSeq], [6, 7])
    assert.deepEqual(Object.keys(copy.contents()), ['daybook.db', 'high-water', 'lock'])
    assert.deepEqual(copy.lines().slice(0, 5), stage.lines())
  })

  test('imports nothing from the same file again, counts duplicates and changes nothing', async () => {
    await using stage = await openImportStage()
    const drafts = [...opening(), ...plays(5)]
    await stage.begin(drafts)
    const before = stage.contents()
    const outcome = await stage.import([stage.file('again.jsonl', jsonl(drafts))])
    assert.ok(outcome.ok)
    assert.deepEqual(
      [outcome.events, outcome.duplicates, outcome.firstSeq, outcome.lastSeq],
      [0, 9, null, null],
    )
    assert.deepEqual(stage.contents(), before)
  })

  test('imports only the new drafts of a longer file, though the rest is before the head', async () => {
    await using stage = await openImportStage()
    await stage.begin([...opening(), ...plays(5)])
    const outcome = await stage.import([stage.file('longer.jsonl', jsonl([...opening(), ...plays(8)]))])
    assert.ok(outcome.ok)
    assert.deepEqual([outcome.events, outcome.duplicates, outcome.firstSeq], [3, 9, 10])
  })

  test('counts a ref that repeats with the same content once, near or far', async () => {
    await using stage = await openImportStage()
    const drafts = [...opening(), ...opening(), ...plays(4_500), ...plays(3), ...plays(1, 4_500)]
    const outcome = await stage.import([stage.file('twice.jsonl', jsonl(drafts))])
    assert.ok(outcome.ok)
    assert.deepEqual([outcome.events, outcome.duplicates], [4_504, 8])
    // A server uses the index that the import has built.
    const again = await stage.import([stage.file('again.jsonl', jsonl(plays(4_500)))])
    assert.ok(again.ok)
    assert.equal(again.duplicates, 4_500)
  })

  test('treats two spellings of one content as the same', async () => {
    await using stage = await openImportStage()
    const spelled = opening().map((line) =>
      'kots' in line ? { ...line, kots: Number(line['kots']).toFixed(9) } : line,
    )
    const outcome = await stage.import([stage.file('a.jsonl', jsonl([...opening(), ...spelled]))])
    assert.ok(outcome.ok)
    assert.deepEqual([outcome.events, outcome.duplicates], [4, 4])
  })

  test('changes nothing without drafts', async () => {
    await using stage = await openImportStage()
    const outcome = await stage.import([stage.file('empty.jsonl', ''), stage.file('blank.jsonl', '\n \n')])
    assert.ok(outcome.ok)
    assert.equal(outcome.events, 0)
    assert.deepEqual(Object.keys(stage.contents()), ['lock'])
  })

  test('admits and counts drafts with a wrong order or balance when balances are reported', async () => {
    await using stage = await openImportStage()
    const at = '2026-01-01T00:00:00.000Z'
    const below = [
      ...opening(),
      { at, type: 'burn', kind: 'platform_income', kots: '1000' },
      { at, type: 'prize', kind: 'winner', contestId: 1, kots: '5' },
    ]
    const outcome = await stage.import([stage.file('below.jsonl', jsonl(below))], { balances: 'report' })
    assert.ok(outcome.ok)
    assert.deepEqual([outcome.events, outcome.irregular], [6, 2])
  })

  test('reports its progress', async () => {
    await using stage = await openImportStage()
    const told: ImportProgress[] = []
    const text = jsonl([...opening(), ...plays(5_000)])
    const outcome = await stage.import([stage.file('long.jsonl', text)], {
      onProgress: (progress) => void told.push(progress),
    })
    assert.ok(outcome.ok)
    assert.ok(told.length > 3)
    assert.deepEqual(told.at(-1), {
      stage: 'finishing',
      bytes: text.length,
      bytesTotal: text.length,
      drafts: 5_004,
    })
    for (const [index, { bytes, drafts }] of told.entries()) {
      assert.ok(bytes >= (told[index - 1]?.bytes ?? 0) && drafts >= (told[index - 1]?.drafts ?? 0))
    }
  })

  test('leaves nothing behind when it is aborted', async () => {
    await using stage = await openImportStage()
    await stage.begin(opening())
    const before = stage.contents()
    const aborting = new AbortController()
    const outcome = stage.import([stage.file('long.jsonl', jsonl(plays(5_000)))], {
      signal: aborting.signal,
      onProgress: () => aborting.abort(new Error('enough')),
    })
    await assert.rejects(outcome, /enough/)
    assert.deepEqual(stage.contents(), before)
  })

  test('lets signals and timers run while it reads', async () => {
    await using stage = await openImportStage()
    const aborting = new AbortController()
    let taken = 0
    const outcome = stage.import([stage.file('long.jsonl', jsonl([...opening(), ...plays(12_000)]))], {
      signal: aborting.signal,
      onProgress({ drafts }) {
        if (taken === 0) setImmediate(() => aborting.abort(new Error('enough')))
        taken = drafts
      },
    })
    await assert.rejects(outcome, /enough/)
    assert.ok(taken < 6_000)
  })

  test('refuses to begin while another process uses the directory', async () => {
    await using stage = await openImportStage()
    const file = stage.file('history.jsonl', jsonl(opening()))
    const lock = lockDirectory(stage.data)
    await assert.rejects(stage.import([file]), LockedError)
    lock[Symbol.dispose]()
    const outcome = await stage.import([file])
    assert.ok(outcome.ok)
  })

  test('admits a draft of the current moment', async () => {
    await using stage = await openImportStage()
    const last = { at: formatAt(msOf(NOW_MS)), type: 'treasury', kind: 'deposit', kots: '1' }
    await stage.begin([...opening(), last])
    assert.equal(stage.lines().length, 5)
  })
})
