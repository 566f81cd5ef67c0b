import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { hasStore, storePath } from '../../../src/log/store/store.ts'
import { run } from '../../stage/command-stage.ts'
import { skipWithout } from '../../processes/test-needs.ts'
import { openCampaign } from '../campaign.ts'
import type { DrivenOutcome } from './driven-node.ts'
import { drivenOutcomes } from './driven-run.ts'
import { countedCalls, type ShimWish } from './io-shim.ts'
import { KILLED_OPERATIONS, type KilledOperation } from './kill-operations.ts'
import { openKilledMirrors } from './killed-mirrors.ts'
import { withoutLongRuns } from './long-runs.ts'

const CAMPAIGN = openCampaign('kill-steps')
const WHERES = ['before', 'in', 'after'] as const
/** SQLite's shared memory is made again at each start, so that its steps are of no interest. */
const EXCEPT = ['-shm']

type Where = (typeof WHERES)[number]
type Ended = Readonly<{
  code: number | null
  signal: string | null
  said: string
  outcomes: readonly DrivenOutcome[]
}>
/** A step of an operation: the number of a change, and the place of the kill. */
type Step = Readonly<{ operation: KilledOperation; at: number; where: Where }>
/** An operation's state before, and what a run that nothing killed did and left. */
type Recorded = Readonly<{
  before: string
  changes: number
  steps: readonly Step[]
  names: ReadonlySet<string>
  events: number
  kept: ReturnType<typeof keptBytes>
  outcome: unknown
}>

async function runOperation(operation: KilledOperation, root: string, wish: ShimWish | null): Promise<Ended> {
  const scratch = mkdtempSync(join(tmpdir(), 'daybook-scratch-'))
  try {
    const only = operation.whilePublishing && wish !== null ? { onlyWhile: join(scratch, 'publishing') } : {}
    const [command = '', ...words] = operation.command(root, scratch, wish && { ...wish, ...only })
    const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const from of [child.stdout, child.stderr])
      from.setEncoding('utf8').on('data', (text: string) => (said += text))
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
    return { code, signal, said, outcomes: drivenOutcomes(join(scratch, 'outcomes')) }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Names of all files below a folder, without dates, ids and numbers. */
function namesBelow(root: string): ReadonlySet<string> {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
  return new Set(names.map((name) => name.replaceAll(/\d{8}T\d{6}Z|\b[0-9a-f]{8}\b/g, '#')))
}

/** Lines of a store's events, and the files of its closed months. */
function keptBytes(data: string): Readonly<{ lines: readonly string[]; months: readonly string[] }> {
  if (!hasStore(data)) return { lines: [], months: [] }
  const db = new DatabaseSync(storePath(data))
  try {
    const all = (sql: string): readonly string[] =>
      db
        .prepare(sql)
        .all()
        .map((row) => String(row['bytes']))
    return {
      lines: all("SELECT seq || ' ' || line AS bytes FROM events ORDER BY seq"),
      months: all(`
        SELECT month || ' ' || file || ' ' || start || ' ' || hex(bytes) AS bytes
        FROM segments JOIN months USING (month) WHERE closed ORDER BY month, file, start`),
    }
  } finally {
    db.close()
  }
}

suite('an operation that is killed at a step', { skip: skipWithout('cc') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-steps-'))
  const recorded = new Map<string, Recorded>()
  const root = join(folder, 'root')
  const mirrors = openKilledMirrors()
  const operations = [...KILLED_OPERATIONS, ...mirrors.operations]
  test.after(async () => {
    await mirrors[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  function place(before: string): void {
    rmSync(root, { recursive: true, force: true })
    cpSync(before, root, { recursive: true, preserveTimestamps: true })
  }

  /** Runs the operation without a kill, and lists its steps. */
  async function record(operation: KilledOperation): Promise<Recorded> {
    const known = recorded.get(operation.name)
    if (known !== undefined) return known
    const before = join(folder, `before-${recorded.size}`)
    mkdirSync(before)
    await operation.prepare(before)
    const kept = keptBytes(join(before, 'data'))
    place(before)
    const report = join(folder, 'report')
    rmSync(report, { force: true })
    const ended = await runOperation(operation, root, { root, except: EXCEPT, report, reportsAll: true })
    assert.equal(ended.code, 0, `${operation.name}: ${ended.said}`)
    const changes = countedCalls(report)
    const steps = withoutLongRuns(changes).flatMap(({ call, number }) =>
      WHERES.filter((where) => where !== 'in' || call === 'pwrite').map((where) => ({
        operation,
        at: number,
        where,
      })),
    )
    assert.ok(steps.length > 0, `${operation.name} changes nothing`)
    const events = await checked(operation, { operation, at: 0, where: 'after' }, -1)
    assert.ok(operation.events < 0 || events === operation.events, `${operation.name}: ${events} events`)
    const outcome = operation.outcome?.(root)
    const made = { before, changes: changes.length, steps, names: namesBelow(root), events, kept, outcome }
    recorded.set(operation.name, made)
    return made
  }

  const nameOf = ({ operation, at, where }: Step): string => `${operation.name}, killed ${where} change ${at}`

  /** Asserts that `daybook check` finds the store right, with as many events, and returns their number. */
  async function checked(operation: KilledOperation, step: Step, events: number): Promise<number> {
    const { code, stdout, stderr } = await run(['check', '--data', join(root, 'data')])
    assert.equal(code, 0, `${nameOf(step)}: ${stdout}${stderr}`)
    const found = Number(/([\d,]+) events?:/.exec(stdout + stderr)?.[1]?.replaceAll(',', ''))
    if (events >= 0) assert.equal(found, events, `${nameOf(step)}: ${operation.name} has each event once`)
    return found
  }

  async function kill(step: Step): Promise<boolean> {
    const { operation, at, where } = step
    const { before, names, events, kept, outcome } = await record(operation)
    place(before)
    const killed = await runOperation(operation, root, { root, except: EXCEPT, kill: { at, where } })
    // Threads race, so that a run may have a change less than the recorded one.
    if (killed.signal !== 'SIGKILL' && killed.code === 0) return false
    assert.equal(killed.signal, 'SIGKILL', `${nameOf(step)}: ${killed.said}`)
    const again = await runOperation(operation, root, null)
    if (operation.done?.test(again.said) !== true)
      assert.equal(again.code, 0, `${nameOf(step)}, and again: ${again.said}`)
    assertAcknowledged(step, killed.outcomes, again.outcomes)
    await checked(operation, step, events)
    const after = keptBytes(join(root, 'data'))
    assert.deepEqual(
      after.lines.slice(0, kept.lines.length),
      kept.lines,
      `${nameOf(step)}: events are unchanged`,
    )
    assert.deepEqual(after.months.slice(0, kept.months.length), kept.months, `${nameOf(step)}: closed months`)
    assert.deepEqual(operation.outcome?.(root), outcome, `${nameOf(step)}: its outcome`)
    const left = [...namesBelow(root)].filter(
      (name) => !names.has(name) && operation.left?.test(name) !== true,
    )
    assert.deepEqual(left, [], `${nameOf(step)}: what is left of it`)
    return true
  }

  /** Asserts that a retry gives each acknowledged draft the seq that it had. */
  function assertAcknowledged(
    step: Step,
    before: readonly DrivenOutcome[],
    after: readonly DrivenOutcome[],
  ): void {
    for (const { status } of after) assert.equal(status, 200, nameOf(step))
    for (const [index, { status, refs, seqs }] of before.entries())
      if (status === 200) assert.deepEqual(after[index]?.seqs, seqs, `${nameOf(step)}: ${refs.join(' ')}`)
  }

  test('leaves what was acknowledged, and is finished by a repetition', async (t) => {
    const { random, size } = CAMPAIGN
    const chosen: Step[] = []
    const rest: Step[] = []
    const first = random.below(operations.length)
    let all = 0
    const found: string[] = []
    for (let turn = 0; turn < Math.min(size, operations.length); turn += 1) {
      const operation = operations[(first + turn) % operations.length]
      if (operation === undefined) continue
      const { changes, steps } = await record(operation)
      const own = steps.filter((step) => CAMPAIGN.isOfPart(nameOf(step)))
      all += own.length
      found.push(`${operation.name} ${changes} changes and ${steps.length} steps`)
      const share = Math.ceil((size - turn) / operations.length)
      while (own.length > 0 && chosen.filter((step) => step.operation === operation).length < share)
        chosen.push(...own.splice(random.below(own.length), 1))
      rest.push(...own)
    }
    // An operation of few steps leaves some of its share to the others.
    while (chosen.length < size && rest.length > 0) chosen.push(...rest.splice(random.below(rest.length), 1))
    t.diagnostic(`steps: ${found.join(', ')}`)
    let kills = 0
    for (const [index, step] of chosen.entries()) {
      if (await kill(step)) kills += 1
      if (index % 50 === 49) process.stderr.write(`kill-steps: ${index + 1} of ${chosen.length}\n`)
    }
    CAMPAIGN.finish(
      t,
      { kills, missed: chosen.length - kills, steps: all },
      { kills: Math.ceil(chosen.length * 0.9) },
    )
  })
})
