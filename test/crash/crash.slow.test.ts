import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from '../../sim/random.ts'
import { sha256, verifyRawEd25519 } from '../../src/log/tree/signer.ts'
import { storePath } from '../../src/log/store/store.ts'
import { openCheckpoint } from '../../src/tlog/checkpoint.ts'
import { run } from '../stage/command-stage.ts'
import { assertConsistent } from '../stage/publish-stage.ts'
import { type NodeProcess, readLines, startNode } from '../stage/node-process.ts'
import { openCampaign } from '../torture/campaign.ts'
import { parseVkey } from '../../src/tlog/note.ts'

const CAMPAIGN = openCampaign('kill-publishing')
/** Kills of the service. */
const CYCLES = CAMPAIGN.size
const PUBLISHERS = 8
const CYCLE_MS_MAX = 150
/** Answers of a cycle at most: each cycle reads all events again, and a fast disk would store very many in its time. */
const ANSWERS_MAX = 80
const CYCLES_PER_RECOMPUTE = 4
/** Kills of one log at most: each cycle reads and checks all of its events again. */
const CYCLES_PER_LOG = 50
const PAID_LOOKED_UP = 5
/** Kills from which on both outcomes of a request in progress must be seen: kept, and lost. */
const BOTH_OUTCOMES_MIN = 100

type SentDraft = Readonly<{
  ref: string
  type: string
  kind: string
  kots?: string
  contestId?: number
  tx?: string
  details?: object
}>
type Request = readonly SentDraft[]

/** Knowledge of the publishers: the requests that were answered, and those that were only sent. */
type Known = {
  readonly random: Random
  readonly sent: Map<string, SentDraft>
  readonly seqs: Map<string, number>
  /** Requests whose outcome only a retry can tell. */
  unknown: Request[]
  /** Acknowledged deposits without a correction. */
  readonly deposits: { seq: number; kots: string }[]
  inFlight: number
  lines: readonly string[]
}

function openKnown(): Known {
  const { random } = CAMPAIGN
  const sent = new Map<string, SentDraft>()
  return { random, sent, seqs: new Map(), unknown: [], deposits: [], inFlight: 0, lines: [] }
}

/** Drafts that write every table of the store. Each has its own amount or contest. */
function draftOf(known: Known, number: number): SentDraft {
  const named = { ref: `ref-${number}`, kots: `${number}.000000001` }
  const contestId = (number % 40) + 1
  switch (number % 8) {
    case 0:
      return { ...named, type: 'treasury', kind: 'deposit' }
    case 1: {
      const details = { price: `0.${String(number).padStart(12, '0')}` }
      return { ref: named.ref, type: 'price', kind: 'usd', details }
    }
    case 2: {
      const plan = { contestId: 1_000 + number, details: { opensAt: '2027-01-01', closesAt: '2027-02-01' } }
      return { ref: named.ref, type: 'contest', kind: 'scheduled', ...plan }
    }
    case 3:
      return { ...named, type: 'play', kind: number % 3 === 0 ? 'vote' : 'entry', contestId }
    case 4:
      return { ...named, type: 'prize', kind: 'winner', contestId }
    case 5:
      return { ...named, type: 'payout', kind: 'winner', contestId, tx: `transaction:${number}` }
    case 6:
      return { ...named, type: 'pool', kind: 'sponsor', contestId }
    default: {
      const deposit = known.deposits.pop()
      if (deposit === undefined) return { ...named, type: 'trade', kind: 'buy' }
      const details = { corrects: deposit.seq }
      return {
        ref: named.ref,
        type: 'correction',
        kind: 'treasury',
        kots: `-${deposit.kots}`,
        details,
      }
    }
  }
}

function nextRequest(known: Known): Request {
  const { random, sent } = known
  const size = random.chance(0.03) ? random.between(100, 300) : random.between(1, 6)
  return Array.from({ length: size }, () => {
    const draft = draftOf(known, sent.size + 1)
    sent.set(draft.ref, draft)
    return draft
  })
}

/** Sends one request and notes its outcome. Hangs up after `cut` milliseconds. */
async function send(
  node: NodeProcess,
  known: Known,
  request: Request,
  cutMs: number | null,
): Promise<boolean> {
  known.inFlight += 1
  try {
    const signal = cutMs === null ? undefined : AbortSignal.timeout(cutMs)
    const answer = await node.publish(request, signal).catch(() => undefined)
    if (answer === undefined) {
      known.unknown.push(request)
      return false
    }
    assert.equal(answer.status, 200, answer.code)
    note(known, request, answer.drafts)
    return true
  } finally {
    known.inFlight -= 1
  }
}

function note(known: Known, request: Request, drafts: readonly { ref: string; seq: number }[]): void {
  assert.deepEqual(
    drafts.map(({ ref }) => ref),
    request.map(({ ref }) => ref),
  )
  for (const [index, { ref, seq }] of drafts.entries()) {
    assert.equal(known.seqs.get(ref) ?? seq, seq, `${ref} keeps its seq`)
    known.seqs.set(ref, seq)
    const draft = request[index]
    if (draft?.type === 'treasury' && draft.kots !== undefined) {
      known.deposits.push({ seq, kots: draft.kots })
    }
  }
}

/** Publishes from several publishers and kills the process, at a random moment or right after an answer. */
async function publishUntilKilled(node: NodeProcess, known: Known): Promise<number> {
  const { random } = known
  const killAfterAnswers = random.chance(0.5) ? random.between(1, 40) : ANSWERS_MAX
  const life: { answers: number; killing: ReturnType<NodeProcess['end']> | undefined } = {
    answers: 0,
    killing: undefined,
  }
  let inFlightAtKill = 0
  const kill = (): void => {
    if (life.killing !== undefined) return
    inFlightAtKill = known.inFlight
    life.killing = node.end('SIGKILL')
  }
  const publisher = async (): Promise<void> => {
    while (life.killing === undefined) {
      const cutMs = random.chance(0.05) ? random.between(1, 10) : null
      if (await send(node, known, nextRequest(known), cutMs)) life.answers += 1
      if (life.answers >= killAfterAnswers) kill()
    }
  }
  const late = wait(random.below(CYCLE_MS_MAX)).then(kill)
  await Promise.all([late, ...Array.from({ length: PUBLISHERS }, publisher)])
  assert.deepEqual(await life.killing, { code: null, signal: 'SIGKILL' }, 'the process was killed')
  return inFlightAtKill
}

/** Asserts that the events that readers saw are unchanged, and acknowledged drafts have their seqs. */
async function assertKept(node: NodeProcess, known: Known): Promise<void> {
  const lines = await readLines(node.url, 0)
  assert.deepEqual(lines.slice(0, known.lines.length), known.lines, 'what was read before did not change')
  const events = lines.map(
    (line) => JSON.parse(line) as { seq: number; type: string; kind: string; kots: string | null },
  )
  for (const [index, { seq }] of events.entries()) assert.equal(seq, index + 1, 'seqs are contiguous')
  for (const [ref, seq] of known.seqs) {
    const event = events[seq - 1]
    const draft = known.sent.get(ref)
    assert.ok(event !== undefined && draft !== undefined, `${ref} was acknowledged as ${seq} and is lost`)
    assert.deepEqual(
      [event.type, event.kind, event.kots],
      [draft.type, draft.kind, draft.kots ?? null],
      `${ref} has seq ${seq}`,
    )
  }
  await assertFound(node, lines)
  await assertSigned(node, lines.length)
  known.lines = lines
}

/** Asserts that the newest payments are found by their transactions, whose index is in the same commit. */
async function assertFound(node: NodeProcess, lines: readonly string[]): Promise<void> {
  const paid = lines.filter((line) => !line.endsWith('"tx":null}')).slice(-PAID_LOOKED_UP)
  for (const line of paid) {
    const { seq, tx } = JSON.parse(line) as { seq: number; tx: string }
    const body = await (await fetch(`${node.url}/api/v1/events?tx=${tx}`)).text()
    assert.ok(body.startsWith(`{"events":[${line}],`), `${tx} is found at ${seq}`)
  }
}

/** Asserts that the checkpoint is signed and of exactly the stored events. */
async function assertSigned(node: NodeProcess, size: number): Promise<void> {
  const ask = async (path: string): Promise<Uint8Array> =>
    (await fetch(`${node.url}/api/v1/log/${path}`)).bytes()
  const listed = JSON.parse(Buffer.from(await ask('keys')).toString()) as { keys: { vkey: string }[] }
  const keys = listed.keys.flatMap(({ vkey }) => parseVkey(sha256, vkey) ?? [])
  const trusted = { origin: keys[0]?.name ?? '', keys }
  const opened = await openCheckpoint(await ask('checkpoint'), trusted, verifyRawEd25519)
  assert.ok(opened.ok, 'the checkpoint is signed')
  assert.equal(opened.value.checkpoint.size, size, 'the checkpoint is of the head')
}

/** Repeats unanswered requests. Asserts that each was stored whole or not at all, and is now stored once. */
async function retry(node: NodeProcess, known: Known): Promise<Readonly<{ kept: number; lost: number }>> {
  let kept = 0
  const requests = known.unknown.splice(0)
  for (const request of requests) {
    const answer = await node.publish(request)
    assert.equal(answer.status, 200, answer.code)
    const statuses = new Set(answer.drafts.map(({ status }) => status))
    assert.equal(statuses.size, 1, 'a request is published whole or not at all')
    if (statuses.has('duplicate')) kept += 1
    note(known, request, answer.drafts)
  }
  const lines = await readLines(node.url, known.lines.length)
  assert.equal(known.lines.length + lines.length, known.sent.size, 'every draft is there once')
  return { kept, lost: requests.length - kept }
}

/** Recovers and recomputes a copy, so that the next process finds the files of the crash. */
function assertCopyWhole(data: string, folder: string): void {
  const copy = join(folder, 'copy.db')
  copyFileSync(storePath(data), copy)
  const wal = `${storePath(data)}-wal`
  if (existsSync(wal)) copyFileSync(wal, `${copy}-wal`)
  assertConsistent(copy)
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${copy}${suffix}`, { force: true })
}

/** Kills the service of one log, and returns what its publishers saw. */
async function killOneLog(kills: number): Promise<Seen> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-crash-'))
  const data = join(folder, 'data')
  const known = openKnown()
  const seen = { inFlight: 0, kept: 0, lost: 0, events: 0 }
  try {
    for (let cycle = 1; cycle <= kills; cycle += 1) {
      const node = await startNode(data, ['--balances', 'report'])
      await assertKept(node, known)
      const { kept, lost } = await retry(node, known)
      seen.kept += kept
      seen.lost += lost
      seen.inFlight += await publishUntilKilled(node, known)
      if (cycle % CYCLES_PER_RECOMPUTE === 0) assertCopyWhole(data, folder)
    }
    const node = await startNode(data, ['--balances', 'report'])
    await assertKept(node, known)
    await retry(node, known)
    await assertKept(node, known)
    assert.equal((await node.end('SIGTERM')).code, 0)
    const checked = await run(['check', '--data', data])
    assert.equal(checked.code, 0, checked.stderr)
    assert.match(checked.stdout, new RegExp(`^${known.sent.size} events: every table`))
    return { ...seen, events: known.sent.size }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Seen = Readonly<{ inFlight: number; kept: number; lost: number; events: number }>

suite(`a service killed while it publishes, ${CYCLES} times`, () => {
  test(
    'keeps what it acknowledged, and a retry of the rest doubles nothing',
    { timeout: 600_000 + CYCLES * 5_000 },
    async (t) => {
      const seen = { inFlight: 0, kept: 0, lost: 0, events: 0 }
      for (let left = CYCLES; left > 0; left -= CYCLES_PER_LOG) {
        const one = await killOneLog(Math.min(left, CYCLES_PER_LOG))
        seen.inFlight += one.inFlight
        seen.kept += one.kept
        seen.lost += one.lost
        seen.events += one.events
        process.stderr.write(`kill-publishing: ${left} kills were left, ${one.events} events in one log\n`)
      }
      // Kills meet requests in progress. Many kills see both outcomes; few may see only one of them. Each publisher sends a
      // request in each life; a slow machine may answer no second one in its time.
      const outcomes = CYCLES < BOTH_OUTCOMES_MIN ? {} : { kept: 1, lost: 1 }
      const floors = { inFlight: CYCLES, retried: 1, events: CYCLES * PUBLISHERS, ...outcomes }
      CAMPAIGN.finish(t, { kills: CYCLES, retried: seen.kept + seen.lost, ...seen }, floors)
    },
  )
})
