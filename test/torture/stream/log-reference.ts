import assert from 'node:assert/strict'
import type { Heard } from './heard-messages.ts'

/** Question of one connection, and the messages that it heard. */
export type HeardStream = Readonly<{
  /** Words that name the connection in a failure. */
  asked: string
  /** Filter parameters as a query, without `?`; the same for `/events`. */
  filter: string
  details: boolean
  ndjson: boolean
  /** Exclusive cursor: a seq, a moment in milliseconds that may be later, or `live` from a head of at least `headMin`. */
  start: Readonly<{ after: number; fromMs?: number }> | 'live'
  /** Newest seq that a publisher was told before the connection. */
  headMin: number
  messages: readonly Heard[]
}>

/** The log as `/events` gives it. */
export type LogReference = Readonly<{
  /** Names a filter whose matches are read from now on. */
  want(filter: string): void
  /** Reads the events since the last call: all of them, and the matches of each wanted filter. */
  read(): Promise<void>
  size(): number
  atMs(seq: number): number
  /** Last seqs of the months. */
  monthEnds(): readonly number[]
  /** Fails unless the connection heard exactly the matches after its start, byte for byte. Returns how much it heard. */
  assertHeard(stream: HeardStream): HeardCounts
}>

type HeardCounts = Readonly<{ events: number; details: number; positions: number; live: number }>

export function openLogReference(url: string): LogReference {
  const lines: string[] = []
  const details = new Map<number, string>()
  const filters = new Map<string, { matches: number[]; read: number }>()
  const ends: number[] = []

  async function pages(filter: string, after: number, take: (text: string) => void): Promise<void> {
    const query = filter === '' ? '' : `&${filter}`
    let next: string | null = `/api/v1/events?limit=10000&after=${after}${query}`
    while (next !== null) {
      const answer = await fetch(`${url}${next}`)
      const text = Buffer.from(await answer.arrayBuffer()).toString('latin1')
      assert.equal(answer.status, 200, text)
      take(text)
      next = (JSON.parse(text) as { page: { next: string | null } }).page.next
    }
  }

  function takeLines(text: string): void {
    for (const line of linesIn(text)) {
      assert.ok(line.startsWith(`{"seq":${lines.length + 1},`), `${line} comes after ${lines.length}`)
      if (lines.length > 0 && monthOf(line) !== monthOf(lines.at(-1) ?? '')) ends.push(lines.length)
      lines.push(line)
    }
    const said = (JSON.parse(text) as { details: Record<string, object> }).details
    for (const [seq, own] of Object.entries(said))
      details.set(Number(seq), `{"seq":${seq},"details":${JSON.stringify(own)}}`)
  }

  async function read(): Promise<void> {
    await pages('details=1', lines.length, takeLines)
    for (const [filter, known] of filters) {
      await pages(filter, known.read, (text) => {
        for (const line of linesIn(text)) {
          const seq = seqOfLine(line)
          if (seq > lines.length) break
          assert.equal(line, lines[seq - 1], 'a filter changes no line')
          known.matches.push(seq)
        }
      })
      known.read = lines.length
    }
  }

  const matchesOf = (filter: string): readonly number[] =>
    filters.get(filter)?.matches ?? assert.fail(`${filter} was not read`)
  const atMs = (seq: number): number => Number(/"atMs":(\d+)/.exec(lines[seq - 1] ?? '')?.[1])

  function startOf({ start, messages, headMin }: HeardStream): number {
    const first = messages.find(({ is }) => is === 'position')?.seq ?? 0
    if (start === 'live') {
      assert.ok(first >= headMin, `live from ${first}, although ${headMin} was published`)
      return first
    }
    const { after, fromMs = 0 } = start
    let before = after
    while (before < lines.length && atMs(before + 1) < fromMs) before += 1
    assert.equal(first, before, 'the first position is the cursor')
    return before
  }

  return {
    want(filter) {
      if (filter !== '' && !filters.has(filter)) filters.set(filter, { matches: [], read: 0 })
    },
    read,
    size: () => lines.length,
    atMs,
    monthEnds: () => ends,
    assertHeard(stream) {
      const counts = { events: 0, details: 0, positions: 0, live: 0 }
      if (!stream.messages.some(({ is }) => is === 'position')) {
        assert.ok(
          stream.messages.every(({ is }) => is === 'retry'),
          'a position comes before all events',
        )
        return counts
      }
      const start = startOf(stream)
      const matches = stream.filter === '' ? null : matchesOf(stream.filter)
      let at = matches === null ? start : countUpTo(matches, start)
      const nextMatch = (): number => (matches === null ? at + 1 : (matches[at] ?? Infinity))
      let cursor = start
      let due: string | undefined
      for (const [index, { is, seq, line }] of stream.messages.entries()) {
        const where = `message ${index}, ${is} ${seq}, after ${cursor}`
        if (is === 'retry') {
          assert.ok(index === 0 && !stream.ndjson && seq >= 3_000 && seq <= 8_000, where)
        } else if (is === 'details') {
          assert.ok(stream.details && due === undefined && seq === nextMatch(), where)
          assert.equal(line, details.get(seq), where)
          due = line
          counts.details += 1
        } else if (is === 'position') {
          assert.ok(due === undefined, `${where}: between details and their event`)
          const said = JSON.parse(line) as { seq: number; head: number; live: boolean }
          assert.ok(seq >= cursor && said.head >= seq, `${where}: ${line}`)
          assert.ok(nextMatch() > seq, `${where}: ${nextMatch()} is missing`)
          cursor = seq
          counts.positions += 1
          if (said.live) counts.live += 1
        } else {
          assert.equal(seq, nextMatch(), `${where}: the next match is ${nextMatch()}`)
          assert.equal(line, lines[seq - 1], where)
          const own = stream.details ? details.get(seq) : undefined
          assert.equal(due, own, `${where}: details come just before their event`)
          due = undefined
          cursor = seq
          at += 1
          counts.events += 1
        }
      }
      return counts
    },
  }
}

/** Lines of the events of a page. No value in a line has a brace. */
const linesIn = (text: string): readonly string[] => text.match(/\{"seq":\d+,"type":[^}]*\}/g) ?? []
const seqOfLine = (line: string): number => Number(/^\{"seq":(\d+)/.exec(line)?.[1])
const monthOf = (line: string): string => /"at":"(\d{4}-\d\d)/.exec(line)?.[1] ?? ''

/** Number of ascending seqs up to `seq`, inclusive. */
function countUpTo(seqs: readonly number[], seq: number): number {
  let [low, high] = [0, seqs.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((seqs[middle] ?? 0) <= seq) low = middle + 1
    else high = middle
  }
  return low
}
