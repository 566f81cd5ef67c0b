import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS, msOf } from '../../../src/protocol/moment.ts'
import { run } from '../../stage/command-stage.ts'
import { type NodeProcess, readLines, startNode } from '../../stage/node-process.ts'
import { openClient, until } from '../../stage/stream-client.ts'
import { openCampaign } from '../campaign.ts'
import { isRunning } from '../../processes/other-program.ts'

const CAMPAIGN = openCampaign('clock-steps')
const { random } = CAMPAIGN
const FAULTS = join(import.meta.dirname, '..', '..', 'crash', 'faults.ts')
const YEAR_MS = 365 * DAY_MS
/** Difference from which on the clock is not believed (docs/limits.md). */
const BELIEVED_MS = MINUTE_MS
/** Room for the time that a test takes, so that a step is never exactly at the limit. */
const MARGIN_MS = 20_000
const ANSWER_MS = 20_000
/** Every run comes back from a step, ends a month with the next one, and then is behind its newest event. */
const FIRST_STEPS = [40 * DAY_MS, 40 * DAY_MS, -3 * DAY_MS]
/** Requests a minute of a caller: enough for this test, and the answers say what is left. */
const RATE = 10_000

type Published = { seq: number; lines: string[]; archives: Map<string, string> }
/** The clock of the service: how far it is ahead, and how far it was when the present service started. */
type Clock = { aheadMs: number; startedMs: number; behindHead: boolean }

const now = ({ aheadMs }: Clock): number => Date.now() + aheadMs

/** A change of the clock, in milliseconds: seconds, hours, days or years, more often forwards than back. */
function stepMs(): number {
  const unit = random.weighted([
    [1_000, 3],
    [HOUR_MS, 3],
    [DAY_MS, 5],
    [YEAR_MS, 1],
  ])
  const size = unit === YEAR_MS ? 1 : random.between(1, 40)
  return size * unit * (random.chance(0.65) ? 1 : -1)
}

/** Whether the service must accept drafts. Undefined close to a limit, where the time of the test decides. */
function isBelieved(clock: Clock, headMs: number): boolean | undefined {
  const stepped = Math.abs(clock.aheadMs - clock.startedMs)
  const behind = clock.behindHead ? headMs - now(clock) : 0
  if ([stepped, behind].some((ms) => Math.abs(ms - BELIEVED_MS) < MARGIN_MS)) return undefined
  return stepped < BELIEVED_MS && behind < BELIEVED_MS
}

const momentOf = (line: string): number => (JSON.parse(line) as { atMs: number }).atMs
const draft = (number: number): object => ({
  ref: `ref-${number}`,
  type: 'trade',
  kind: 'buy',
  kots: `${number}`,
})

/** Publishes one draft. Returns whether it was accepted; the only refusal is that of the clock. */
async function publish(node: NodeProcess, published: Published): Promise<boolean> {
  const answer = await node.publish([draft(published.seq + 1)])
  if (answer.status === 200) {
    published.seq += 1
    assert.deepEqual(
      answer.drafts.map(({ seq }) => seq),
      [published.seq],
    )
    return true
  }
  assert.deepEqual([answer.status, answer.code, answer.headers.get('retry-after')], [503, 'clock', '10'])
  assert.ok(!(await fetch(`${node.publishUrl}/readyz?for=publish`)).ok)
  return false
}

/** Reads the new events, and the digests of closed months. `at` never decreases, and no closed file changes. */
async function assertUnchanged(node: NodeProcess, published: Published): Promise<void> {
  const { lines } = published
  lines.push(...(await readLines(node.url, lines.length)))
  assert.equal(lines.length, published.seq)
  assertInOrder(lines)
  const response = await fetch(`${node.url}/api/v1/archive`)
  const limit = /r=(\d+);t=(\d+)/.exec(response.headers.get('ratelimit') ?? '') ?? []
  assert.ok(Number(limit[1]) < RATE && Number(limit[2]) <= 60, 'the rate limit does not follow the clock')
  const { months } = (await response.json()) as { months: readonly ListedMonth[] }
  assertClosedMonths(months, published)
}

/** Asserts that `at` never decreases. */
function assertInOrder(lines: readonly string[]): void {
  for (const [index, line] of lines.entries())
    assert.ok(index === 0 || momentOf(line) >= momentOf(lines[index - 1] ?? ''), `\`at\` of seq ${index + 1}`)
}

type ListedMonth = Readonly<{
  month: string
  state: string
  sha256: string | null
  linesSha256: string | null
}>

/** Asserts that closed months have the digests that they had, and notes those of new ones. */
function assertClosedMonths(
  months: readonly ListedMonth[],
  published: Readonly<{ archives: Map<string, string> }>,
): void {
  for (const { month, state, sha256, linesSha256 } of months) {
    if (state !== 'closed') continue
    const digests = `${sha256} ${linesSha256}`
    assert.equal(published.archives.get(month) ?? digests, digests, `${month} stays as it is`)
    published.archives.set(month, digests)
  }
}

test('a clock that reordered events or changed a closed month would be found', () => {
  const lines = ['{"atMs":2}', '{"atMs":1}']
  assert.throws(() => assertInOrder(lines), /`at` of seq 2/)
  const archives = new Map<string, string>()
  const closed = { month: '2026-01', state: 'closed', sha256: 'a', linesSha256: 'b' }
  for (let times = 0; times < 2; times += 1) assertClosedMonths([closed], { archives })
  assert.throws(() => assertClosedMonths([{ ...closed, linesSha256: 'c' }], { archives }), /stays as it is/)
})

/** Waits until the metric shows this fault, or none. */
async function untilFault(
  { publishUrl }: NodeProcess,
  fault: 'stepped' | 'behind-head' | null,
): Promise<void> {
  await until(async () => {
    const text = await (await fetch(`${publishUrl}/metrics`)).text()
    const shown = /^daybook_clock_fault\{fault="([a-z-]+)"\} 1$/m.exec(text)?.[1] ?? null
    return shown === fault
  }, ANSWER_MS)
}

suite(`a service whose clock steps, ${CAMPAIGN.size} times`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-clock-'))
  const faults = join(folder, 'faults')
  const data = join(folder, 'data')
  mkdirSync(faults)
  test.after(() => rmSync(folder, { recursive: true, force: true }))
  const wrapper = ['env', `NODE_OPTIONS=--import=${FAULTS}`, `FAULTS_OF_TEST=${faults}`]
  const clock: Clock = { aheadMs: 0, startedMs: 0, behindHead: false }
  const published: Published = { seq: 0, lines: [], archives: new Map() }
  const seen = { refused: 0, restarts: 0, killed: 0, forwards: 0, back: 0, cameBack: 0, accepted: 0 }

  function setClock(aheadMs: number): void {
    clock.aheadMs = aheadMs
    writeFileSync(join(faults, 'clock.new'), String(aheadMs))
    renameSync(join(faults, 'clock.new'), join(faults, 'clock'))
  }

  async function start(...options: readonly string[]): Promise<NodeProcess> {
    const node = await startNode(data, ['--rate-limit', String(RATE), ...options], wrapper)
    clock.startedMs = clock.aheadMs
    clock.behindHead = published.seq > 0 && !options.includes('--accept-clock')
    return node
  }

  /** Publishes as far as the clock is believed, and expects the service to say why it refuses. */
  async function judge(node: NodeProcess): Promise<void> {
    const headMs = momentOf(published.lines.at(-1) ?? '{"atMs":0}')
    const expected = isBelieved(clock, headMs)
    if (expected !== undefined) {
      const stepped = Math.abs(clock.aheadMs - clock.startedMs) >= BELIEVED_MS
      await untilFault(node, expected ? null : stepped ? 'stepped' : 'behind-head')
      if (!expected)
        assert.match(node.stderr(), /the clock was set by 60 s or more|more than 60 s ahead of the clock/)
    }
    const accepted = await publish(node, published)
    if (expected !== undefined) assert.equal(accepted, expected)
    if (!accepted) seen.refused += 1
    if (accepted && clock.behindHead && headMs - now(clock) <= BELIEVED_MS) clock.behindHead = false
    await assertUnchanged(node, published)
  }

  /** Sets the clock to where it was when the service started: it publishes again by itself, unless it was behind. */
  async function comeBack(node: NodeProcess): Promise<void> {
    setClock(clock.startedMs)
    await judge(node)
    if (!clock.behindHead) await until(() => /the clock agrees again/.test(node.stderr()), ANSWER_MS)
    seen.cameBack += 1
  }

  /** Starts again, sometimes after a kill, and accepts a clock that is behind the newest event most of the time. */
  async function restart(node: NodeProcess, mayAccept = random.chance(0.8)): Promise<NodeProcess> {
    const signal = random.chance(0.5) ? 'SIGKILL' : 'SIGTERM'
    await node.end(signal)
    seen.restarts += 1
    seen.killed += signal === 'SIGKILL' ? 1 : 0
    const isBehind = momentOf(published.lines.at(-1) ?? '{"atMs":0}') > now(clock)
    const accepts = isBehind && mayAccept
    const again = await start(...(accepts ? ['--accept-clock'] : []))
    const before = published.seq
    await judge(again)
    if (accepts) assert.ok(published.seq > before, 'an accepted clock publishes')
    seen.accepted += accepts ? 1 : 0
    return again
  }

  test(
    'publishes in order or refuses, changes no closed month, goes on reading, and says what is wrong',
    { timeout: 60_000 + CAMPAIGN.size * 20_000 },
    async (t) => {
      let node = await start()
      try {
        await judge(node)
        for (let step = 0; step < CAMPAIGN.size; step++) {
          using stream = await openClient(Number(new URL(node.url).port), { path: `?after=${published.seq}` })
          const [before, ms] = [published.seq, FIRST_STEPS[step] ?? stepMs()]
          setClock(clock.aheadMs + ms)
          seen[ms > 0 ? 'forwards' : 'back'] += 1
          await judge(node)
          await stream.until(() => stream.seqs().length === published.seq - before, ANSWER_MS)
          assert.ok(!stream.isClosed(), 'a stream goes on')
          if (published.seq === before) {
            if (step === 0 || (step >= FIRST_STEPS.length && random.chance(0.4))) await comeBack(node)
            else if (step === FIRST_STEPS.length - 1) node = await restart(await restart(node, false), true)
            else node = await restart(node)
          }
          if (step % 10 === 9) t.diagnostic(`${step + 1} steps, ${published.archives.size} months`)
        }
        const verified = await run(['verify', node.url], { now: () => msOf(now(clock)) })
        assert.equal(verified.code, 0, verified.stdout + verified.stderr)
        await node.end('SIGTERM')
        const checked = await run(['check', '--data', data], { now: () => msOf(now(clock)) })
        assert.equal(checked.code, 0, checked.stderr)
      } finally {
        if (isRunning(node.child)) await node.end('SIGKILL')
      }
      const { size } = CAMPAIGN
      const floors = {
        restarts: size / 4,
        refused: size / 8,
        months: 1,
        events: size / 2,
        forwards: 1,
        back: 1,
        cameBack: 1,
        accepted: 1,
      }
      CAMPAIGN.finish(
        t,
        { steps: size, events: published.seq, months: published.archives.size, ...seen },
        floors,
      )
    },
  )
})
