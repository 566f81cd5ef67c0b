import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { openClient, type StreamClient } from '../../../test/stage/stream-client.ts'
import { draftOf, openStage, type Stage } from '../../../test/stage/stream-stage.ts'
import { seqOf } from '../../protocol/seq.ts'

/** A reader like an `EventSource`: it keeps the last id and reconnects with it. */
type Reader = {
  readonly query: string
  readonly matches: (seq: number) => boolean
  readonly start: number
  /** Lines of the events, each after the line of its details. */
  readonly seen: string[]
  lastId: number
  client: StreamClient | null
  /** Number of messages of this connection that were read. */
  taken: number
}

const FILTERS: readonly (readonly [query: string, matches: (seq: number) => boolean])[] = [
  ['', () => true],
  ['&type=price', (seq) => draftOf(seq).type === 'price'],
  ['&kind=buy', (seq) => draftOf(seq).kind === 'buy'],
  ['&nonzero=1&type=trade,burn', (seq) => draftOf(seq).type === 'trade'],
  ['&details=1', () => true],
  ['&details=1&type=contest,trade', (seq) => draftOf(seq).type !== 'price'],
]

/** Reads the new messages and checks that each continues the ones before it, and that details precede their event. */
function takeIn(reader: Reader): void {
  const messages = reader.client?.messages() ?? []
  let details: string | undefined
  for (const [index, { id, event, data }] of messages.entries()) {
    // A details message is read again until its event has come.
    if (index < reader.taken || data === undefined) continue
    if (event === 'details') {
      assert.deepEqual([id, details], [undefined, undefined])
      details = data
      continue
    }
    const seq = Number(id)
    if (event === 'position') assert.ok(seq >= reader.lastId, `position ${seq} follows ${reader.lastId}`)
    else {
      assert.ok(seq > reader.lastId, `event ${seq} follows ${reader.lastId}`)
      reader.seen.push(...(details === undefined ? [] : [details]), data)
    }
    assert.ok(details === undefined || event === undefined, 'an event follows its details')
    details = undefined
    reader.lastId = seq
    reader.taken = index + 1
  }
}

/** Line of an event's details; empty when it has none. */
function detailsOf(stage: Stage, seq: number): readonly string[] {
  const line = stage.reader.snapshot((snapshot) => snapshot.detailsLine(seqOf(seq)))
  return line === undefined || line.endsWith('"details":null}') ? [] : [line]
}

async function resume(stage: Stage, reader: Reader, byHeader: boolean): Promise<void> {
  cut(reader)
  const path = `?after=${byHeader ? reader.start : reader.lastId}${reader.query}`
  const headers = byHeader ? [`Last-Event-ID: ${reader.lastId}`] : []
  reader.client = await openClient(stage.port, { path, headers })
  reader.taken = 0
}

function cut(reader: Reader): void {
  takeIn(reader)
  reader.client?.socket.destroy()
  reader.client = null
}

type Act =
  | Readonly<{ do: 'publish'; count: number }>
  | Readonly<{ do: 'subscribe'; filter: number; back: number }>
  | Readonly<{ do: 'cut' | 'resume' | 'drop'; who: number }>
  | Readonly<{ do: 'wait'; turns: number }>

const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('publish' as const), count: fc.integer({ min: 1, max: 400 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('subscribe' as const),
      filter: fc.nat({ max: FILTERS.length - 1 }),
      back: fc.nat({ max: 1_500 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('cut' as const, 'resume' as const, 'drop' as const),
      who: fc.nat(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), turns: fc.nat({ max: 6 }) }) },
)

async function perform(stage: Stage, readers: Reader[], act: Act): Promise<void> {
  switch (act.do) {
    case 'publish':
      stage.publish(act.count)
      return
    case 'subscribe': {
      const [query, matches] = FILTERS[act.filter] ?? ['', () => true]
      const start = Math.max(0, stage.head() - act.back)
      const reader: Reader = { query, matches, start, seen: [], lastId: start, client: null, taken: 0 }
      readers.push(reader)
      await resume(stage, reader, false)
      return
    }
    case 'wait':
      for (let turn = 0; turn < act.turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      return
    case 'cut':
    case 'resume':
    case 'drop': {
      const reader = readers[act.who % Math.max(1, readers.length)]
      if (reader === undefined) return
      if (act.do === 'resume') await resume(stage, reader, act.who % 2 === 0)
      else if (act.do === 'cut') cut(reader)
      else reader.client?.socket.resetAndDestroy()
    }
  }
}

const RUNS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 10)

suite('a stream that is cut and resumed at random', () => {
  test('loses, repeats and reorders nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(acts, { minLength: 5, maxLength: 25 }), async (story) => {
        await using stage = await openStage()
        stage.publish(700)
        const readers: Reader[] = []
        for (const act of story) await perform(stage, readers, act)
        const head = stage.head()
        for (const reader of readers) {
          await resume(stage, reader, true)
          const { client } = reader
          await client?.until(() => client.positions().some((position) => position.live))
          takeIn(reader)
          const expected: string[] = []
          for (let seq = reader.start + 1; seq <= head; seq += 1) {
            if (!reader.matches(seq)) continue
            expected.push(
              ...(reader.query.includes('details=1') ? detailsOf(stage, seq) : []),
              stage.line(seq),
            )
          }
          assert.deepEqual(reader.seen, expected)
          assert.equal(reader.lastId, head)
          cut(reader)
        }
      }),
      { numRuns: RUNS },
    )
  })
})
