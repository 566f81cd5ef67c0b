import assert from 'node:assert/strict'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { storePath } from '../../../src/log/store/store.ts'
import { skipWithout } from '../../processes/test-needs.ts'
import { startDaybook } from '../../stage/started-daybook.ts'
import { makeLog, refusalAtStart, runCheck } from '../../story/damaged-log.ts'
import { openCampaign } from '../campaign.ts'
import { type CountedCall, type ShimCall, type ShimError, type ShimWish, withShim } from './io-shim.ts'
import { publishTo } from '../../stage/node-process.ts'

const CAMPAIGN = openCampaign('failing-calls')
const BEFORE = 60
const TOKEN = 'a-token-of-a-failing-service-that-is-long-enough-0123456789'
/** Requests of a run: one draft, which ends a month in a log of old events, then a batch. */
const REQUESTS: readonly (readonly Readonly<{ ref: string; [field: string]: unknown }>[])[] = [
  [{ ref: 'one', type: 'trade', kind: 'buy', kots: '1' }],
  [
    { ref: 'two', type: 'treasury', kind: 'deposit', kots: '2' },
    { ref: 'three', type: 'pool', kind: 'sponsor', kots: '3', contestId: 1 },
    { ref: 'four', type: 'payout', kind: 'winner', kots: '1', contestId: 1, tx: 'transaction:four' },
  ],
]
/** Equal calls on one file in a row: only so many at each end, and as many between, are tried. */
const ROW_ENDS = 4

/** Errors of each call that a disk, a quota or a limit of the system gives. */
const ERRORS: Readonly<Partial<Record<ShimCall, readonly ShimError[]>>> = {
  open: ['EMFILE', 'ENOSPC', 'EIO'],
  create: ['EMFILE', 'ENOSPC', 'EDQUOT', 'EIO', 'EROFS'],
  pread: ['EIO'],
  pwrite: ['EIO', 'ENOSPC', 'EDQUOT', 'short'],
  ftruncate: ['EIO', 'ENOSPC'],
  fsync: ['EIO', 'ENOSPC', 'EDQUOT'],
  fdatasync: ['EIO', 'ENOSPC', 'EDQUOT'],
  link: ['EIO', 'ENOSPC'],
  unlink: ['EIO'],
  mkdir: ['EIO', 'ENOSPC'],
  mmap: ['ENOMEM', 'EIO'],
  fcntl: ['EIO'],
}

/** Faults of a whole run at least. A run makes some thousand calls. */
const FOUND_MIN = 1_000
/** Share of the runs that at least end with a named fault. About a third do. */
const NAMED_MIN = 0.1
/** Words of SQLite for a call that failed. It seldom says which error the system gave. */
const SQLITE_WORDS =
  /disk I\/O error|unable to open database file|disk is full|readonly database|malformed|not a database|out of memory|locking protocol|database is locked/
/** Words of the system for each error. */
const SYSTEM_WORDS: Readonly<Record<ShimError, RegExp>> = {
  EIO: /\bi\/o error|\bEIO\b/,
  ENOSPC: /no space left on device|\bENOSPC\b/,
  EDQUOT: /quota/,
  EMFILE: /too many open files|\bEMFILE\b/,
  ENOMEM: /not enough memory|\bENOMEM\b/,
  EACCES: /permission denied|\bEACCES\b/,
  EROFS: /read-only file system|\bEROFS\b/,
  short: SQLITE_WORDS,
}

/** The k-th call of a kind, and `times − 1` after it, fail. */
type Fault = Readonly<{ call: ShimCall; error: ShimError; at: number; times: 1 | 2 }>
/** Calls that SQLite and Node may use, and do not on every system. */
const UNUSED: ReadonlySet<ShimCall> = new Set(['fdatasync', 'link'])
const TIMES = [1, 2] as const
/** Answer to a request; the status 0 stands for none. */
type Answered = Readonly<{ status: number; code: string; refs: readonly string[]; seqs: readonly number[] }>
/** Calls and answers of a run, in order. */
type Happened = Readonly<CountedCall & { is: 'call' }> | Readonly<Answered & { is: 'answer' }>
type Ended = Readonly<{ code: number | null; said: string; happened: readonly Happened[] }>

/** The library and the publisher append to the same file, which gives the order of faults and answers. */
function happenedIn(path: string): readonly Happened[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines.filter(Boolean).map((line) => {
    if (line.startsWith('{')) return { is: 'answer', ...(JSON.parse(line) as Answered) }
    const [call = '', number, name = ''] = line.split(' ')
    return { is: 'call', call, number: Number(number), path: name }
  })
}

/** Reason of the end that a service gave: its last words at a start, or a fatal line of its report. */
function reasonIn(said: string): string {
  const lines = said.split('\n')
  return lines
    .filter(
      (line) => line.startsWith('daybook: ') || /^\{"level":"fatal".*"fact":"(?:broken|crashed)"/.test(line),
    )
    .join('\n')
}

/** Asserts that a service that ended with 1 named its fault. A stop that took too long is no fault of a call. */
function assertNamed(error: ShimError, said: string, told: string): void {
  const reason = reasonIn(said)
  if (reason === '' && /"fact":"stop-cut"/.test(said)) return
  assert.ok(SQLITE_WORDS.test(reason) || SYSTEM_WORDS[error].test(reason), `the fault is not named: ${told}`)
}

/** Leaves of many equal calls on one file in a row the first, the last and some between: a copy of a file has thousands. */
function withoutLongRows(calls: readonly CountedCall[]): readonly CountedCall[] {
  return calls.filter((one, index) => {
    const isOther = ({ path }: CountedCall): boolean => path !== one.path
    const from = calls.slice(0, index).findLastIndex(isOther) + 1
    const next = calls.slice(index).findIndex(isOther)
    const to = next < 0 ? calls.length : index + next
    const step = Math.ceil((to - from) / ROW_ENDS)
    return index < from + ROW_ENDS || index >= to - ROW_ENDS || (index - from) % step === 0
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

  /** Starts a service on the log, publishes and stops it, while calls count or fail. */
  async function drive(wish: Omit<ShimWish, 'root' | 'report'>): Promise<Ended> {
    const scratch = mkdtempSync(join(folder, 'run-'))
    try {
      const [report, tokenFile] = [join(scratch, 'happened'), join(scratch, 'token')]
      writeFileSync(report, '')
      writeFileSync(tokenFile, TOKEN)
      const log = ['--data', data, '--chain', 'opaque', '--development', '--balances', 'report']
      const ports = ['--port', '0', '--publish-port', '0', '--publish-token-file', tokenFile, '--drain', '0']
      const service = startDaybook(['serve', ...log, ...ports], {
        before: withShim({ ...wish, root, report }),
      })
      const addresses = await service.addresses().catch(() => undefined)
      for (const drafts of addresses === undefined ? [] : REQUESTS)
        appendFileSync(report, `${JSON.stringify(await publish(addresses?.publishUrl ?? '', drafts))}\n`)
      const { code, signal } = await service.end('SIGTERM')
      const said = `${service.stderr()}${signal ?? ''}`
      // A service that ends by itself has said so before it exits, and no longer hears a signal then.
      const own = said.includes('"fact":"stopped"') ? Number(reasonIn(said) !== '') : code
      return { code: signal === 'SIGTERM' ? own : code, said, happened: happenedIn(report) }
    } finally {
      rmSync(scratch, { recursive: true, force: true })
    }
  }

  async function publish(publishUrl: string, drafts: (typeof REQUESTS)[number]): Promise<Answered> {
    const refs = drafts.map(({ ref }) => ref)
    try {
      const answer = await publishTo({ publishUrl, token: TOKEN }, drafts)
      return { status: answer.status, code: answer.code, refs, seqs: answer.drafts.map(({ seq }) => seq) }
    } catch {
      return { status: 0, code: '', refs, seqs: [] }
    }
  }

  function place(): void {
    rmSync(root, { recursive: true, force: true })
    cpSync(before, root, { recursive: true })
  }

  /** Faults of a run, of each kind of call, and their number with those that many equal calls in a row leave out. */
  async function recordFaults(): Promise<Readonly<{ faults: readonly Fault[]; found: number }>> {
    const faults: Fault[] = []
    let found = 0
    place()
    const calls = Object.keys(ERRORS) as ShimCall[]
    const { code, said, happened } = await drive({ calls, reportsAll: true })
    assert.equal(code, 0, said)
    for (const call of calls) {
      const own = happened.filter((one) => one.is === 'call').filter((one) => one.call === call)
      assert.ok(own.length > 0 || UNUSED.has(call), `a run has no call ${call}`)
      const numbered = own.map((one, index) => ({ ...one, number: index + 1 }))
      const ofEach = (ERRORS[call] ?? []).flatMap((error) => TIMES.map((times) => ({ call, error, times })))
      found += own.length * ofEach.length
      for (const { number } of withoutLongRows(numbered))
        faults.push(...ofEach.map((one) => ({ ...one, at: number })))
    }
    return { faults, found }
  }

  const nameOf = ({ call, error, at, times }: Fault): string =>
    `${call} ${at}${times === 2 ? ` and ${at + 1}` : ''}: ${error}`

  /** Asserts what no fault may change. Returns whether it fired, and whether it ended the service, which named it. */
  async function fails(fault: Fault): Promise<Readonly<{ fired: boolean; named: boolean }>> {
    const { call, error, at, times } = fault
    place()
    const { code, said, happened } = await drive({ calls: [call], fail: { at, error, times } })
    const name = `${nameOf(fault)}, on ${happened.flatMap((one) => (one.is === 'call' ? one.path : [])).join(' and ')}`
    const told = `${name}: ${said}`
    assert.ok(code === 0 || code === 1, `${name}: ended with ${code}: ${said}`)
    if (code === 1) assertNamed(error, said, told)
    assert.doesNotMatch(said, /^ {4}at |\\n {4}at /m, told)
    const answers = happened.filter((one) => one.is === 'answer')
    for (const { status, code: problem } of answers) {
      assert.ok([200, 503, 507, 0].includes(status), `${told}${status}`)
      if (status === 503 || status === 507) assert.notEqual(problem, '', told)
      if (problem === 'store-unavailable') assert.equal(code, 1, `${name}: the service goes on: ${said}`)
      if (status === 0) assert.equal(code, 1, `${name}: no answer, and the service goes on: ${said}`)
    }
    assertNoAckAfterFailedSync(happened, told)
    await assertWhole(answers, told)
    const fired = happened.some((one) => one.is === 'call')
    return { fired, named: code === 1 && reasonIn(said) !== '' }
  }

  function assertNoAckAfterFailedSync(happened: readonly Happened[], told: string): void {
    const failed = happened.findIndex(
      (one) =>
        one.is === 'call' && one.call.endsWith('sync') && /^data\/daybook\.db(?:-wal)?$/.test(one.path),
    )
    if (failed < 0) return
    const isAcknowledged = happened.slice(failed).some((one) => one.is === 'answer' && one.status === 200)
    assert.ok(!isAcknowledged, `acknowledged after a failed sync: ${told}`)
  }

  /** Asserts that the next start accepts the log, that it is whole, and that it has each acknowledged draft once. */
  async function assertWhole(answers: readonly Answered[], told: string): Promise<void> {
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
    const answer = { status: 200, code: '', refs: ['never'], seqs: [BEFORE + 1] } as const
    const sync = { is: 'call', call: 'fdatasync', number: 1, path: 'data/daybook.db-wal' } as const
    const acknowledged = [sync, { is: 'answer', ...answer }] as const
    assert.throws(() => assertNoAckAfterFailedSync(acknowledged, ''), /acknowledged after a failed sync/)
    place()
    await assertWhole([{ ...answer, refs: ['ref-1'], seqs: [1] }], 'a kept draft')
    await assert.rejects(assertWhole([answer], 'a lost draft'), /a lost draft/)
    const half = { ...answer, status: 503, refs: ['ref-1', 'never'] }
    await assert.rejects(assertWhole([half], ''), /half of a batch/)
  })

  test('acknowledges nothing that it may lose, names the fault, and starts again', async (t) => {
    const { random, size } = CAMPAIGN
    const { faults, found } = await recordFaults()
    const all = [...faults]
    const runsMin = Math.min(size, all.length)
    const chosen: Fault[] = []
    while (chosen.length < size && all.length > 0) chosen.push(...all.splice(random.below(all.length), 1))
    const seen = { runs: 0, fired: 0, named: 0 }
    const broken: string[] = []
    for (const [index, fault] of chosen.entries()) {
      try {
        const { fired, named } = await fails(fault)
        seen.runs += 1
        if (fired) seen.fired += 1
        if (named) seen.named += 1
      } catch (error) {
        broken.push(String(error))
        process.stderr.write(`failing-calls: ${nameOf(fault)} broke a promise\n`)
      }
      if (index % 50 === 49) process.stderr.write(`failing-calls: ${index + 1} of ${chosen.length}\n`)
    }
    assert.deepEqual(broken, [])
    CAMPAIGN.finish(
      t,
      { ...seen, faults: chosen.length + all.length, found },
      {
        found: FOUND_MIN,
        runs: runsMin,
        fired: Math.ceil(runsMin * 0.9),
        named: Math.floor(runsMin * NAMED_MIN),
      },
    )
  })
})
