import assert from 'node:assert/strict'
import type { Random } from '../../sim/random.ts'
import { filterOf, type LogModel, matching, type ModelFilter, queryOf } from '../story/log-model.ts'
import { openClient, type StreamClient, until } from '../stage/stream-client.ts'

/** A reader that follows the log over broken connections, and remembers only the last id. */
export type Follower = Readonly<{
  filter: ModelFilter
  /** Cuts the connection as if it had broken after some received byte. */
  cut(): void
  isCut(): boolean
  /** Connects again after the last complete message. */
  resume(port: number): Promise<void>
  /** Waits for all events up to the head, and compares them with the model. */
  check(): Promise<void>
}>

type ReceivedMessages = Readonly<{ cursor: number; lines: readonly string[] }>

/** Opens a stream from any place of the log, or live from its head. */
export async function openFollower(port: number, model: LogModel, random: Random): Promise<Follower> {
  const filter = filterOf(random)
  const ndjson = random.chance(0.3)
  const isLive = random.chance(0.2)
  const start = isLive ? model.head() : random.between(0, model.head())
  const kept: string[] = []
  let cursor = start
  let client: StreamClient | null = null

  /** The complete messages in the first `bytes` of the body. */
  function said(bytes: number): ReceivedMessages {
    const body = client?.body().slice(0, bytes) ?? ''
    const messages = body.split(ndjson ? '\n' : '\n\n').slice(0, -1)
    const lines: string[] = []
    let last = cursor
    for (const message of messages) {
      const line = ndjson ? message : /^data: (.*)$/m.exec(message)?.[1]
      if (line === undefined) continue
      const isPosition = ndjson ? line.startsWith('{"position":') : message.startsWith('event: position\n')
      const { seq } = isPosition && ndjson ? JSON.parse(line).position : JSON.parse(line)
      if (!ndjson) assert.equal(/^id: (\d+)$/m.exec(message)?.[1], String(seq))
      assert.ok(seq > last || (isPosition && seq === last), `seq ${seq} comes after ${last}`)
      last = seq
      if (!isPosition) lines.push(line)
    }
    return { cursor: last, lines }
  }

  async function connect(to: number, parameters: Record<string, string>, headers: string[]): Promise<void> {
    const accept = ndjson ? ['Accept: application/x-ndjson'] : []
    const path = queryOf({ ...filter, ...parameters })
    const opened = await openClient(to, { path, headers: [...headers, ...accept] })
    client = opened
    // The first position says where the stream begins.
    await until(() => opened.positions().length > 0)
    assert.match(opened.head(), /^HTTP\/1\.1 200 /)
    assert.equal(opened.positions()[0]?.seq, cursor)
  }

  await connect(port, isLive ? {} : { after: String(start) }, [])
  return {
    filter,
    cut() {
      if (client === null) return
      const whole = said(random.below(client.body().length + 1))
      client[Symbol.dispose]()
      client = null
      kept.push(...whole.lines)
      cursor = whole.cursor
    },
    isCut: () => client === null,
    async resume(to) {
      // A browser repeats the old `after` and sends its position in a header.
      if (random.chance(0.5)) await connect(to, { after: String(start) }, [`Last-Event-ID: ${cursor}`])
      else await connect(to, { after: String(cursor) }, [])
    },
    async check() {
      const expected = matching(model, filter)
        .filter(({ seq }) => seq > start)
        .map((event) => JSON.stringify(event))
      const had = kept.length
      await until(() => client === null || had + client.events().length >= expected.length)
      const { lines } = said(Infinity)
      assert.deepEqual([...kept, ...lines], client === null ? expected.slice(0, had) : expected)
    },
  }
}
