import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { Entry } from '../../src/protocol/event.ts'
import { HOUR_MS, MINUTE_MS, monthOf, msOf } from '../../src/protocol/moment.ts'
import { RICH_LOG } from '../stage/audit-stage.ts'
import { run, type RunResult, serveBodies } from '../stage/command-stage.ts'
import { checkpointOver, newKey, ORIGIN, publicLog } from '../story/public-log.ts'
import { cosigned, witnessKey } from '../story/witness-keys.ts'
import { formatVkey } from '../../src/tlog/note.ts'

const size = RICH_LOG.length
const common = size - 1
const key = newKey()
/** The log of the second reader: the same events, but for the newest one. */
const OTHER: readonly Entry[] = RICH_LOG.map((entry, index) =>
  index < common ? entry : { ...entry, event: { ...entry.event, tx: 'another' } },
)
const LOGS = { first: publicLog(RICH_LOG, key), second: publicLog(OTHER, key) }
const now = LOGS.first.now
const NAMES = ['one', 'two', 'three'] as const
const [one, two, three] = [witnessKey('one'), witnessKey('two', 'ml-dsa-44'), witnessKey('three')]
const KEYS = { one, two, three }
const at = msOf(now - MINUTE_MS)
const path = createHash('sha256').update(ORIGIN).digest('hex')

suite('a log that is shown in two versions to two readers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-split-'))
  const urls = new Map<string, string>()
  const servers: AsyncDisposable[] = []
  /** Notes that the two services and the three witnesses show; each test sets them. */
  const shown = new Map<string, string>()

  before(async () => {
    for (const reader of ['first', 'second'] as const) {
      const started = await serveBodies((asked) => {
        const below = asked.replace('/api/v1/', '')
        return below === 'log/checkpoint.witnessed' ? shown.get(reader) : LOGS[reader].body(below)
      })
      servers.push(started)
      urls.set(reader, started.url)
    }
    for (const name of NAMES) {
      const started = await serveBodies((asked) =>
        asked === `/witness/${path}/checkpoint` ? shown.get(name) : undefined,
      )
      servers.push(started)
      urls.set(name, `${started.url}/witness`)
    }
  })
  after(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  function show(notes: Readonly<Record<string, string>>): void {
    shown.clear()
    for (const [name, note] of Object.entries(notes)) shown.set(name, note)
  }

  /** Verifies as a reader, with the same three witnesses in the same order as the other reader. */
  function verify(reader: 'first' | 'second', asks: boolean, ...more: readonly string[]): Promise<RunResult> {
    const witnesses = NAMES.flatMap((name) => {
      const vkey = formatVkey(KEYS[name].key)
      return ['--witness', asks ? `${vkey}=${urls.get(name)}` : vkey]
    })
    const words = ['verify', urls.get(reader) ?? '', '--key', key.vkey, ...witnesses, ...more]
    return run(words, { now: () => now, random: () => 0.37 })
  }

  const first = (covers: number): string => checkpointOver(RICH_LOG, covers, key)
  const second = (covers: number): string => checkpointOver(OTHER, covers, key)

  test('is right for both while the versions are the same', async () => {
    const note = cosigned(first(common), at, one, two, three)
    show({ first: note, second: note, one: note, two: note, three: note })
    for (const reader of ['first', 'second'] as const) {
      const { code, stdout, stderr } = await verify(reader, true)
      assert.equal(code, 0, stdout + stderr)
      assert.match(
        stdout,
        /^ok {4}witnesses {6}3 of 3 witnesses vouch for \d+ of \d+ events, as of 2026-[^ ]+Z: w/m,
      )
      assert.match(
        stdout,
        /^Vouched for: others who ask for this quorum are shown the same \d+ events, unless/m,
      )
    }
  })

  test('is found by either reader, who asks the same witnesses', async () => {
    // Two witnesses were shown the first log. The third was shown the second one.
    const [left, right] = [cosigned(first(size), at, one, two), cosigned(second(size), at, three)]
    show({
      first: left,
      second: cosigned(first(common), at, one, two, three),
      one: left,
      two: left,
      three: right,
    })
    const save = join(folder, 'saved')
    const found = await verify('first', true, '--save', save)
    assert.equal(found.code, 1, found.stdout + found.stderr)
    assert.match(
      found.stdout,
      new RegExp(
        `^WRONG witnesses {6}witness\\.example/three: SPLIT VIEW: this witness was shown other events than the first ${size} here$`,
        'm',
      ),
    )
    assert.match(found.stdout, /^WRONG: witnesses;/m)
    const evidence = readdirSync(save).find((name) => name.includes('-fork-')) ?? ''
    assert.equal(readFileSync(join(save, evidence, 'saved.checkpoint'), 'utf8'), right)
    assert.equal(readFileSync(join(save, evidence, 'served.checkpoint'), 'utf8'), first(size))
    const other = await verify('second', true)
    assert.equal(other.code, 1, other.stdout + other.stderr)
    for (const name of ['one', 'two'])
      assert.match(
        other.stdout,
        new RegExp(`witness\\.example/${name}: SPLIT VIEW: this witness was shown other events than`),
      )
    assert.match(other.stderr, /evidence was found and not saved/)
  })

  test('is found by either reader also when the witness of both quorums lies', async () => {
    const [left, right] = [cosigned(first(size), at, one, two), cosigned(second(size), at, two, three)]
    show({ first: left, second: right, one: left, two: left, three: right })
    const found = await verify('first', true)
    assert.match(found.stdout, /witness\.example\/three: SPLIT VIEW/)
    const other = await verify('second', true)
    assert.match(other.stdout, /witness\.example\/one: SPLIT VIEW/)
    // Without the addresses, nobody can tell: the report says that it takes one lie.
    const offline = await verify('second', false)
    assert.equal(offline.code, 0, offline.stdout)
    assert.match(offline.stdout, /^Vouched for: .* unless 1 witness has cosigned two logs\.$/m)
  })

  test('is found without asking witnesses by the reader whom no quorum vouches for, at the latest by time', async () => {
    const old = msOf(now - 25 * HOUR_MS)
    show({ first: cosigned(first(size), at, one, two), second: cosigned(second(size), at, three) })
    assert.equal((await verify('first', false)).code, 0)
    const few = await verify('second', false)
    assert.equal(few.code, 1)
    assert.match(
      few.stdout,
      /^WRONG witnesses .*: 1 of 3 witnesses vouch .*; not witness\.example\/one, witness\.example\/two$/m,
    )
    show({ second: cosigned(first(common), old, one, two, three) })
    const frozen = await verify('second', false)
    assert.equal(frozen.code, 1)
    assert.match(
      frozen.stdout,
      /^WRONG witnesses .*: FROZEN: no quorum has vouched for the last 24 hours; 3 of 3/m,
    )
  })

  test('is found in a folder too, which pull has filled and nobody else is asked about', async () => {
    const note = cosigned(first(common), at, one, two)
    const copy = join(folder, 'copy')
    for (const [witnessed, code, says] of [
      [note, 0, /^ok {4}witnesses {6}2 of 3 witnesses vouch for \d+ of \d+ events/m],
      [cosigned(second(size), at, one, two), 1, /^WRONG witnesses .*: FORK: the first \d+ events differ/m],
    ] as const) {
      show({ first: witnessed })
      const pulled = await run(['pull', urls.get('first') ?? '', '--to', copy])
      assert.equal(pulled.code, 0, pulled.stderr)
      assert.equal(readFileSync(join(copy, 'log', 'checkpoint.witnessed'), 'utf8'), witnessed)
      const witnesses = NAMES.flatMap((name) => [
        '--witness',
        `${formatVkey(KEYS[name].key)}=http://127.0.0.1:9`,
      ])
      const found = await run(['verify', copy, ...witnesses], { now: () => now })
      assert.equal(found.code, code, found.stdout + found.stderr)
      assert.match(found.stdout, says)
    }
    const older = join(folder, 'older')
    const month = monthOf(RICH_LOG[0]?.event.atMs ?? now)
    assert.equal((await run(['pull', urls.get('first') ?? '', month, '--to', older])).code, 0)
    assert.deepEqual(readdirSync(join(older, 'log')).toSorted(), ['checkpoint', 'keys'])
  })

  test('is verified with a note about each witness that does not answer as it should', async () => {
    const note = cosigned(first(size), at, one, two)
    show({ first: note, one: note, two: 'x'.repeat(300_000) })
    const { code, stdout } = await verify('first', true)
    assert.equal(code, 0, stdout)
    assert.match(
      stdout,
      /^note: witness witness\.example\/two does not answer: the answer has more than 262144 bytes$/m,
    )
    assert.match(stdout, /^note: witness witness\.example\/three has cosigned no checkpoint of this log$/m)
    assert.match(stdout, /but see the note;/)
  })

  test('is not verified with wrong options, which are not repeated', async () => {
    const vkey = formatVkey(one.key)
    for (const [words, says] of [
      [['--quorum', '1'], /--quorum needs --witness/],
      [['--witness', vkey, '--quorum', '2'], /--quorum: give a whole number from 1 to 1/],
      [['--witness', vkey, '--quorum', '0'], /from 1 to 16/],
      [['--witness', key.vkey], /--witness: the key is that of a log/],
      [['--witness', vkey, '--witness', vkey], /the same public key/],
    ] as const) {
      const { code, stderr } = await run(['verify', urls.get('first') ?? '', ...words])
      assert.equal(code, 2, words.join(' '))
      assert.match(stderr, says)
    }
  })
})
