import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { storePath } from '../../../src/log/store/store.ts'
import { skipWithout } from '../../stage/test-needs.ts'
import { makeLog, refusalAtStart, runCheck } from '../../story/damaged-log.ts'
import { openCampaign } from '../campaign.ts'
import type { DrivenOutcome } from './driven-node.ts'
import { drivenCommand } from './driven-run.ts'
import type { CountedCall, ShimCall, ShimError, ShimWish } from './io-shim.ts'
import { withoutLongRuns } from './long-runs.ts'

const CAMPAIGN = openCampaign('failing-calls')
const BEFORE = 60
const RUN_MS_MAX = 60_000

/** Errors of each call that a disk, a quota or a limit of the system gives. */
const ERRORS: Readonly<Partial<Record<ShimCall, readonly ShimError[]>>> = {
  open: ['EMFILE', 'ENOSPC', 'EIO'],
  create: ['EMFILE', 'ENOSPC', 'EDQUOT', 'EIO', 'EROFS'],
  pread: ['EIO'],
  pwrite: ['EIO', 'ENOSPC', 'EDQUOT', 'short'],
  ftruncate: ['EIO', 'ENOSPC'],
  fsync: ['EIO', 'ENOSPC', 'EDQUOT'],
  fdatasync: ['EIO', 'ENOSPC', 'EDQUOT'],
  rename: ['EIO', 'ENOSPC'],
  link: ['EIO', 'ENOSPC'],
  unlink: ['EIO'],
  mkdir: ['EIO', 'ENOSPC'],
  mmap: ['ENOMEM', 'EIO'],
  fcntl: ['EIO'],
}

/** The k-th call of a kind, and `times − 1` after it, fail. */
type Fault = Readonly<{ call: ShimCall; error: ShimError; at: number; times: 1 | 2 }>
/** Calls and outcomes of a run, in order. */
type Happened = Readonly<CountedCall & { is: 'call' }> | Readonly<DrivenOutcome & { is: 'outcome' }>
type Ended = Readonly<{ code: number | null; said: string; happened: readonly Happened[] }>

/** Shim and driven service append to the same file, which gives the order of faults and answers. */
function happenedIn(path: string): readonly Happened[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines.filter(Boolean).map((line) => {
    if (line.startsWith('{')) return { is: 'outcome', ...(JSON.parse(line) as DrivenOutcome) }
    const [call = '', number, name = ''] = line.split(' ')
    return { is: 'call', call, number: Number(number), path: name }
  })
}

suite('a service whose k-th call on its files fails', { skip: skipWithout('cc') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-calls-'))
  const [before, root] = [join(folder, 'before'), join(folder, 'root')]
  const data = join(root, 'data')
  test.before(() => {
    mkdirSync(before)
    makeLog(join(before, 'data'), [5, BEFORE])
  })
  test.after(() => rmSync(folder, { recursive: true, force: true }))

  async function drive(wish: Omit<ShimWish, 'root' | 'report'>): Promise<Ended> {
    const scratch = mkdtempSync(join(folder, 'run-'))
    try {
      const report = join(scratch, 'outcomes')
      const driven = { data, backups: `${join(root, 'backups')}/` }
      const { command } = drivenCommand(scratch, driven, { ...wish, root, report })
      const [program = '', ...words] = command
      const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_MS_MAX })
      let said = ''
      for (const from of [child.stdout, child.stderr])
        from.setEncoding('utf8').on('data', (text: string) => (said += text))
      const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
      return { code, said: `${said}${signal ?? ''}`, happened: happenedIn(report) }
    } finally {
      rmSync(scratch, { recursive: true, force: true })
    }
  }

  function place(): void {
    rmSync(root, { recursive: true, force: true })
    cpSync(before, root, { recursive: true })
  }

  /** Calls of a run without faults, of each kind. */
  async function recordFaults(): Promise<readonly Fault[]> {
    const faults: Fault[] = []
    place()
    const calls = Object.keys(ERRORS) as ShimCall[]
    const { code, said, happened } = await drive({ calls, reportsAll: true })
    assert.equal(code, 0, said)
    for (const call of calls) {
      const own = happened.filter((one) => one.is === 'call').filter((one) => one.call === call)
      const numbered = own.map((one, index) => ({ ...one, number: index + 1 }))
      for (const { number } of withoutLongRuns(numbered, CAMPAIGN.random))
        for (const error of ERRORS[call] ?? [])
          for (const times of [1, 2] as const) faults.push({ call, error, at: number, times })
    }
    return faults
  }

  const nameOf = ({ call, error, at, times }: Fault): string =>
    `${call} ${at}${times === 2 ? ` and ${at + 1}` : ''}: ${error}`

  /** Asserts what no fault may change, and returns whether it fired. */
  async function fails(fault: Fault): Promise<boolean> {
    const { call, error, at, times } = fault
    place()
    const { code, said, happened } = await drive({ calls: [call], fail: { at, error, times } })
    const name = `${nameOf(fault)}, on ${happened.flatMap((one) => (one.is === 'call' ? one.path : [])).join(' and ')}`
    const told = `${name}: ${said}`
    assert.ok(code === 0 || code === 1, `${name}: ended with ${code}: ${said}`)
    assert.doesNotMatch(said, /^ {4}at |\\n {4}at /m, told)
    const outcomes = happened.filter((one) => one.is === 'outcome')
    const answers = outcomes.filter(({ step }) => step === 'publish')
    for (const { status, code: problem } of answers) {
      assert.ok([200, 503, 507, 0].includes(status), `${told}${status}`)
      if (status === 503 || status === 507) assert.notEqual(problem, '', told)
      if (problem === 'store-unavailable') assert.equal(code, 1, `${name}: the service goes on: ${said}`)
      if (status === 0) assert.equal(code, 1, `${name}: no answer, and the service goes on: ${said}`)
    }
    assertNoAckAfterFailedSync(happened, told)
    await assertWhole(answers, told)
    return happened.some((one) => one.is === 'call')
  }

  function assertNoAckAfterFailedSync(happened: readonly Happened[], told: string): void {
    const failed = happened.findIndex(
      (one) =>
        one.is === 'call' && one.call.endsWith('sync') && /^data\/daybook\.db(?:-wal)?$/.test(one.path),
    )
    if (failed < 0) return
    const later = happened.slice(failed).filter((one) => one.is === 'outcome' && one.step === 'publish')
    assert.ok(
      later.every((one) => one.is === 'outcome' && one.status !== 200),
      `acknowledged after a failed sync: ${told}`,
    )
  }

  /** Asserts that the next start accepts the log, that it is whole, and that it has each acknowledged draft once. */
  async function assertWhole(answers: readonly DrivenOutcome[], told: string): Promise<void> {
    assert.equal(refusalAtStart(data), undefined, told)
    const checked = await runCheck(data)
    assert.equal(checked.code, 0, `${checked.said}${told}`)
    const db = new DatabaseSync(storePath(data), { readOnly: true })
    try {
      const stored = new Map(
        db
          .prepare('SELECT ref, seq FROM refs')
          .all()
          .map((row) => [String(row['ref']), Number(row['seq'])]),
      )
      for (const { status, refs, seqs } of answers) {
        const found = refs.map((ref) => stored.get(ref))
        if (status === 200) assert.deepEqual(found, seqs, told)
        else assert.equal(new Set(found.map((seq) => seq === undefined)).size, 1, `half of a batch: ${told}`)
      }
    } finally {
      db.close()
    }
  }

  test('is not believed when it has acknowledged after a failed sync, lost a draft or kept half of a batch', async () => {
    const answer = { step: 'publish', status: 200, code: '', refs: ['never'], seqs: [BEFORE + 1] } as const
    const sync = { is: 'call', call: 'fdatasync', number: 1, path: 'data/daybook.db-wal' } as const
    const acknowledged = [sync, { is: 'outcome', ...answer }] as const
    assert.throws(() => assertNoAckAfterFailedSync(acknowledged, ''), /acknowledged after a failed sync/)
    place()
    await assertWhole([{ ...answer, refs: ['ref-1'], seqs: [1] }], 'a kept draft')
    await assert.rejects(assertWhole([answer], 'a lost draft'), /a lost draft/)
    const half = { ...answer, status: 503, refs: ['ref-1', 'never'] }
    await assert.rejects(assertWhole([half], ''), /half of a batch/)
  })

  test('acknowledges nothing that it may lose, names the fault, and starts again', async (t) => {
    const { random, size } = CAMPAIGN
    const all = (await recordFaults()).filter((fault) => CAMPAIGN.isOfPart(nameOf(fault)))
    const chosen: Fault[] = []
    while (chosen.length < size && all.length > 0) chosen.push(...all.splice(random.below(all.length), 1))
    let fired = 0
    const broken: string[] = []
    for (const [index, fault] of chosen.entries()) {
      try {
        if (await fails(fault)) fired += 1
      } catch (error) {
        broken.push(String(error))
        process.stderr.write(`failing-calls: ${nameOf(fault)} broke a promise\n`)
      }
      if (index % 50 === 49) process.stderr.write(`failing-calls: ${index + 1} of ${chosen.length}\n`)
    }
    assert.deepEqual(broken, [])
    const figures = { runs: chosen.length, fired, faults: chosen.length + all.length }
    CAMPAIGN.finish(t, figures, { fired: Math.ceil(chosen.length * 0.9) })
  })
})
