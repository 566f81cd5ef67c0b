import { createHash } from 'node:crypto'
import { appendLeaf, emptyFrontier, rootOf } from '../../../src/tlog/frontier.ts'
import { treeHasher } from '../../../src/tlog/hash.ts'
import { COMPANION_RULES, type HistoryRule, type LoggedEvent, published } from './companion-rules.ts'
import { contentOf, type History, type Visit } from './history.ts'

/** Longest time until all nodes agree, once the engine has a leader. A machine that others load has more by its slowness. */
const AGREE_MS_MAX = 10_000
/** Longest time until a publisher is answered. A writer first hears the marks of the others, which come every 10 s. */
const PUBLISH_MS_MAX = 30_000
/** Violations of one rule that are listed. The others are counted. */
const LISTED_MAX = 8

/** Rules of a history. */
const RULES: Readonly<Record<string, HistoryRule>> = {
  'the log is contiguous': contiguous,
  'each acknowledged draft is in the log at its seq': acknowledged,
  'each draft is in the log once': once,
  'publishers keep their order': inOrder,
  'refusals follow the acknowledged log': refusals,
  'subscribers miss and repeat nothing': unbroken,
  'every reader sees the same line of a seq': sameLines,
  'each tree has one root': sameRoots,
  'all nodes answer with the same bytes': sameStates,
  'the audits of each node pass': audited,
  'nodes agree soon after the engine has a leader': recovered,
  ...COMPANION_RULES,
}

/** Lists every violation of the rules, each with the rule before it. */
export function violationsOf(history: History): readonly string[] {
  const events = history.entries.map((entry) => JSON.parse(entry.split('\n', 1)[0] ?? '') as LoggedEvent)
  let roots: readonly string[] | undefined
  return Object.entries(RULES).flatMap(([rule, check]) => {
    const found = [...check(history, events, () => (roots ??= rootsOf(history.entries)))]
    const more = found.length - LISTED_MAX
    const listed = found.slice(0, LISTED_MAX).map((what) => `${rule}: ${what}`)
    return more > 0 ? [...listed, `${rule}: ${more} more`] : listed
  })
}

/** Violations that a log shows while the run goes on, with what was acknowledged before the log was read. */
export function lossesOf(requests: History['requests'], entries: readonly string[]): readonly string[] {
  const events = entries.map((entry) => JSON.parse(entry.split('\n', 1)[0] ?? '') as LoggedEvent)
  return [...contiguous({}, events), ...acknowledged({ requests }, events), ...doubled(events)].slice(
    0,
    LISTED_MAX,
  )
}

/** Streams that subscribers saw of a log. */
type SeenStreams = Pick<History, 'visits' | 'firstLines' | 'discords' | 'entries'>

/** Violations that the streams of one service show. */
export function streamFaultsOf(seen: SeenStreams): readonly string[] {
  return [...unbroken(seen), ...sameLines(seen)].slice(0, LISTED_MAX)
}

function* doubled(events: readonly LoggedEvent[]): Generator<string> {
  const seqs = new Map<string, number>()
  for (const event of events) {
    const content = contentOf(event)
    const known = seqs.get(content)
    if (known !== undefined) yield `one draft is at ${known} and ${event.seq}`
    seqs.set(content, event.seq)
  }
}

function* contiguous(_: object, events: readonly LoggedEvent[]): Generator<string> {
  for (const [index, { seq, atMs }] of events.entries()) {
    if (seq !== index + 1) yield `place ${index + 1} has seq ${seq}`
    if (atMs < (events[index - 1]?.atMs ?? 0)) yield `seq ${seq} is older than the one before it`
  }
}

function* acknowledged(
  { requests }: Pick<History, 'requests'>,
  events: readonly LoggedEvent[],
): Generator<string> {
  for (const { drafts, acks } of requests) {
    for (const { node, seqs } of acks) {
      if (seqs.length !== drafts.length)
        yield `${node} acknowledged ${seqs.length} of ${drafts.length} drafts`
      for (const [index, draft] of drafts.entries()) {
        const seq = seqs[index] ?? 0
        const event = events[seq - 1]
        if (event === undefined) yield `${draft.ref} was acknowledged by ${node} at ${seq} and is lost`
        else if (contentOf(event) !== contentOf(published(draft)))
          yield `${draft.ref} was acknowledged by ${node} at ${seq}, which has another event`
      }
    }
  }
}

function* once({ requests, input, outbox }: History, events: readonly LoggedEvent[]): Generator<string> {
  const seqs = new Map<string, number[]>()
  for (const event of events) {
    const content = contentOf(event)
    seqs.set(content, [...(seqs.get(content) ?? []), event.seq])
  }
  for (const { drafts, acks, holds, expected } of requests) {
    for (const draft of drafts) {
      const content = contentOf(published(draft))
      const found = seqs.get(content) ?? []
      if (found.length > 1) yield `${draft.ref} is at ${found.join(', ')}`
      if (acks.length > 0 && found.length === 0) yield `${draft.ref} was acknowledged and is not in the log`
      if (holds.length > 0 && expected === 'published' && found.length === 0)
        yield `${draft.ref} was held by ${holds[0]} and is not in the log`
      if (expected === 'published') seqs.delete(content)
    }
  }
  let newest = 0
  for (const draft of input) {
    const content = contentOf(published(draft))
    const [seq = 0, ...more] = seqs.get(content) ?? []
    if (seq === 0) yield `${draft.ref} of the endless input is not in the log`
    else if (seq < newest)
      yield `${draft.ref} of the endless input is at ${seq}, before an earlier line at ${newest}`
    if (more.length > 0) yield `${draft.ref} of the endless input is at ${seq}, ${more.join(', ')}`
    newest = seq
    seqs.delete(content)
  }
  for (const { draft } of outbox) {
    const content = contentOf(published(draft))
    const found = seqs.get(content) ?? []
    if (found.length !== 1) yield `a row of the outbox is at ${found.join(', ') || 'no seq'}`
    seqs.delete(content)
  }
  for (const found of seqs.values()) yield `nobody sent the event at ${found.join(', ')}`
}

/** A request is one run of seqs. It is after every request that was acknowledged before it was first sent. */
function* inOrder({ requests }: History): Generator<string> {
  const answered = requests.flatMap((request) => {
    const [first] = request.acks
    return first === undefined ? [] : [{ request, first }]
  })
  for (const { request, first } of answered) {
    const from = first.seqs[0] ?? 0
    if (first.seqs.some((seq, index) => seq !== from + index))
      yield `${request.drafts[0]?.ref} is scattered over ${first.seqs.join(', ')}`
  }
  const byAck = answered.toSorted((a, b) => a.first.atMs - b.first.atMs)
  const bySent = answered.toSorted((a, b) => a.request.firstSentMs - b.request.firstSentMs)
  let newest = 0
  let next = 0
  for (const { request, first } of bySent) {
    for (; (byAck[next]?.first.atMs ?? Infinity) < request.firstSentMs; next += 1)
      newest = Math.max(newest, ...(byAck[next]?.first.seqs ?? []))
    const lowest = Math.min(...first.seqs)
    if (lowest <= newest)
      yield `${request.drafts[0]?.ref} is at ${lowest}, although ${newest} was acknowledged before it was sent`
  }
}

function* refusals({ requests }: History): Generator<string> {
  for (const { drafts, acks, refusals: refused, expected } of requests) {
    const ref = drafts[0]?.ref
    const [first] = refused
    if (expected === 'published' && first !== undefined)
      yield `${ref} was refused by ${first.node} with ${first.status} ${first.code}`
    if (expected === 'refused' && acks.length > 0) yield `${ref} was accepted by ${acks[0]?.node}`
  }
}

function* unbroken({ visits }: Pick<History, 'visits'>): Generator<string> {
  const bySubscriber = new Map<number, Visit[]>()
  for (const visit of visits.filter(({ type }) => type === undefined)) {
    const own = bySubscriber.get(visit.subscriber)
    if (own === undefined) bySubscriber.set(visit.subscriber, [visit])
    else own.push(visit)
  }
  for (const [subscriber, own] of bySubscriber) {
    let cursor = 0
    for (const { node, after, runs, refused } of own) {
      const who = `subscriber ${subscriber} at ${node}`
      if (refused !== null) yield `${who} was refused with ${refused} after ${after}`
      if (after !== cursor) yield `${who} asked after ${after}, not ${cursor}`
      for (const { from, to } of runs) {
        if (from > cursor + 1) yield `${who} missed ${cursor + 1} to ${from - 1}`
        if (from <= cursor) yield `${who} received ${from} again after ${cursor}`
        cursor = to
      }
    }
  }
}

function* sameLines({ firstLines, discords, entries }: SeenStreams): Generator<string> {
  for (const { seq, node, what } of discords) yield `${node} at ${seq}: ${what}`
  for (const [seq, line] of firstLines) {
    if (entries[seq - 1]?.split('\n', 1)[0] !== line) yield `a stream showed another line of ${seq}`
  }
}

function* sameRoots(
  { trees, standstills }: History,
  _: readonly LoggedEvent[],
  rootsOfLog: () => readonly string[],
): Generator<string> {
  const roots = rootsOfLog()
  const still = standstills.flat().map(({ node, head, root }) => ({ node, size: head, root }))
  for (const { node, size, root } of [...trees, ...still]) {
    if (roots[size] !== root) yield `${node} signed another tree of ${size} events`
  }
}

/** Roots of the trees of all sizes, from 0. */
export function rootsOf(entries: readonly string[]): readonly string[] {
  const hasher = treeHasher((bytes) => createHash('sha256').update(bytes).digest())
  const frontier = emptyFrontier()
  const root = (): string => Buffer.from(rootOf(hasher, frontier)).toString('hex')
  return [
    root(),
    ...entries.map((entry) => {
      appendLeaf(hasher, frontier, hasher.leaf(Buffer.from(entry)))
      return root()
    }),
  ]
}

function* sameStates({ standstills, entries }: History): Generator<string> {
  const [last = []] = standstills.slice(-1)
  if (last.length === 0) yield 'nobody compared the nodes'
  for (const { node, head } of last) {
    if (head !== entries.length) yield `${node} ends at ${head}, not ${entries.length}`
  }
  for (const states of standstills) {
    const [one] = states
    for (const { node, head, answers } of states) {
      if (head !== one?.head) yield `${node} is at ${head}, ${one?.node} at ${one?.head}`
      for (const path of new Set([...answers.keys(), ...(one?.answers.keys() ?? [])])) {
        const [here, there] = [answers.get(path), one?.answers.get(path)]
        if (here !== there) yield `${path} at head ${head}: ${node} has ${here}, ${one?.node} has ${there}`
      }
    }
  }
}

function* audited({ auditFaults }: History): Generator<string> {
  for (const { node, audit, output } of auditFaults) yield `${audit} of ${node}: ${output}`
}

function* recovered({ recoveries }: History): Generator<string> {
  for (const { faults, agreeMs, publishMs, slowness } of recoveries) {
    const after = `after ${faults.join(' and ')}, with a slowness of ${slowness.toFixed(1)}`
    if (agreeMs > AGREE_MS_MAX * slowness) yield `the nodes agree ${Math.round(agreeMs)} ms ${after}`
    if (publishMs > PUBLISH_MS_MAX * slowness)
      yield `a publisher is answered ${Math.round(publishMs)} ms ${after}`
  }
}
