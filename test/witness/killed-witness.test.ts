import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { run, start } from '../stage/command-stage.ts'
import { addCheckpointBody, type AskingLog, openAskingLog } from './asking-log.ts'
import { askWitness, assertCosigned, cosignedSize } from './witness-case.ts'
import { WITNESS_KEYS, WITNESS_NAME } from './cosigner-stage.ts'
import { formatVkey } from '../../src/tlog/note.ts'

const folder = mkdtempSync(join(tmpdir(), 'daybook-witness-process-'))
after(() => rmSync(folder, { recursive: true }))
const log = openAskingLog('log.example/killed')
const data = join(folder, 'witness')
const WORDS = ['--name', WITNESS_NAME, '--log', log.vkeys.join(' '), '--log-rate', '6000'] as const
const PORTS = ['--port', '0', '--ops-port', '0'] as const
/** Kills: after so many new sizes of the process, and so many milliseconds later. */
const KILLS = [
  { sizes: 1, ms: 0 },
  { sizes: 2, ms: 3 },
  { sizes: 4, ms: 7 },
  { sizes: 3, ms: 13 },
] as const
const GROWTH_MS_MAX = 60_000

type Started = Readonly<{
  url: string
  vkeys: readonly string[]
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>
}>

async function startProcess(): Promise<Started> {
  const { child, says, ended } = start(['witness', '--data', data, ...WORDS, ...PORTS])
  let said = ''
  child.stderr?.on('data', (text: string) => (said += text))
  await says(/"fact":"witnessing"/)
  const [, url = ''] = /"url":"(http:[^"]+)"/.exec(said) ?? []
  return {
    url,
    vkeys: [...said.matchAll(/"words":"(witness\S+?)"/g)].map(([, vkey = '']) => vkey),
    async end(signal) {
      child.kill(signal)
      await ended()
      return child.exitCode
    },
  }
}

/** Lets a history grow at the witness until that is away. Adds the cosigned roots to `roots`. */
async function growUntilKilled(
  witness: Started,
  shown: AskingLog,
  history: 'own' | 'forked',
  roots: Map<number, Set<string>>,
): Promise<void> {
  try {
    for (let size = await cosignedSize(witness, shown); ;) {
      const next = size + 1
      const body = addCheckpointBody(
        size,
        size === 0 ? [] : shown.proof(size, next, history),
        shown.checkpoint(next, { history }),
      )
      const { status, text } = await askWitness(witness, body)
      if (status === 200) {
        const known = roots.get(next) ?? new Set()
        roots.set(next, known.add(Buffer.from(shown.root(next, history)).toString('hex')))
        size = next
      } else if (status === 409) size = Number(text)
      else await sleep(1)
    }
  } catch (error) {
    // `fetch` fails with a TypeError when nothing answers any more.
    if (!(error instanceof TypeError)) throw error
  }
}

suite('a process of daybook witness', { timeout: 200_000 }, () => {
  test('forgets no answer and cosigns no second root when it is killed at any moment', async () => {
    const roots = new Map<number, Set<string>>()
    let vkeys: readonly string[] = []
    for (const { sizes, ms } of KILLS) {
      const witness = await startProcess()
      if (vkeys.length === 0) ({ vkeys } = witness)
      const answered = Math.max(0, ...roots.keys())
      const size = await cosignedSize(witness, log)
      assert.ok(size === answered || size === answered + 1, 'only the last request may have had no answer')
      const clients = [
        growUntilKilled(witness, log, 'own', roots),
        growUntilKilled(witness, log, 'forked', roots),
      ]
      const wanted = roots.size + sizes
      const lateMs = performance.now() + GROWTH_MS_MAX
      while (roots.size < wanted && performance.now() < lateMs) await sleep(1)
      await sleep(ms)
      await witness.end('SIGKILL')
      await Promise.all(clients)
    }
    assert.ok(roots.size >= 10, 'the log has grown')
    for (const [size, cosigned] of roots) assert.equal(cosigned.size, 1, `size ${size} has one root`)
    assert.equal(vkeys.length, 2, 'the first start prints the vkeys')
    assert.equal(statSync(`${data}.key`).mode & 0o777, 0o600)
    assert.equal(statSync(`${data}.ml-dsa.key`).mode & 0o777, 0o600)

    const witness = await startProcess()
    assert.deepEqual(witness.vkeys, [])
    const size = await cosignedSize(witness, log)
    const refused = await run(['witness', '--data', data, ...WORDS, ...PORTS])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /another process uses this data directory/)
    const root = Buffer.from(log.root(size)).toString('hex')
    const history = roots.get(size)?.has(root) === false ? 'forked' : 'own'
    const again = addCheckpointBody(size, [], log.checkpoint(size, { history }))
    // The cosignature may be older than 10 s only on a very slow machine; the answer is right then too.
    await assertCosigned({ ...witness, vkeys }, again)
    assert.equal(await witness.end('SIGTERM'), 0)
  })

  test('does not start on a restored directory, or with keys that have lost their state', async () => {
    renameSync(data, `${data}-old`)
    const lost = await run(['witness', '--data', data, ...WORDS, ...PORTS])
    assert.equal(lost.code, 2)
    assert.match(lost.stderr, /holds no state, and the keys exist already/)
    // A copy to a full disk leaves an empty file.
    writeFileSync(join(data, 'witness.db'), '')
    const empty = await run(['witness', '--data', data, ...WORDS, ...PORTS])
    assert.equal(empty.code, 2)
    assert.match(empty.stderr, /holds no state, and the keys exist already/)
    rmSync(data, { recursive: true, force: true })
    cpSync(`${data}-old`, data, { recursive: true })
    const restored = await run(['witness', '--data', data, ...WORDS, ...PORTS])
    assert.equal(restored.code, 1)
    assert.match(restored.stderr, /is a copy, or was restored from a backup.*--accept-copy/)
  })

  test('refuses what its options may not be', async () => {
    const other = join(folder, 'other')
    const at = (...words: readonly string[]) => run(['witness', '--data', other, ...PORTS, ...words])
    for (const [words, why] of [
      [['--log', 'nothing', '--name', 'w.example'], /verifier key of a log/],
      [
        ['--log', formatVkey(WITNESS_KEYS[0]?.verifier ?? assert.fail('a key')), '--name', 'w.example'],
        /verifier key of a log/,
      ],
      [['--log', log.vkeys.join(' '), '--name', 'a name'], /schemeless address/],
      [['--log', log.vkeys.join(' ')], /--name/],
      [['--name', 'w.example'], /--log/],
      [['--log', openAskingLog('l'.repeat(256)).vkeys.join(' '), '--name', 'w.example'], /255 bytes/],
      [['--log', log.vkeys.join(' '), '--name', 'w.example', '--log-rate', '29'], /from 30 to/],
      [['--log', log.vkeys.join(' '), '--name', 'w.example', '--accept-copy'], /nothing needs --accept-copy/],
    ] as const) {
      const { code, stderr } = await at(...words)
      assert.equal(code, 2, words.join(' '))
      assert.match(stderr, why)
    }
    const [key, rsa] = [join(folder, 'one.key'), join(folder, 'rsa.key')]
    await run(['keygen', '--to', key, '--witness'])
    writeFileSync(rsa, 'no key', { mode: 0o600 })
    const twice = await at(
      '--log',
      log.vkeys.join(' '),
      '--name',
      'w.example',
      '--accept-copy',
      '--key-file',
      `${key},${key}`,
    )
    assert.match(twice.stderr, /one of Ed25519 and one of ML-DSA-44/)
    const none = await at(
      '--log',
      log.vkeys.join(' '),
      '--name',
      'w.example',
      '--accept-copy',
      '--key-file',
      rsa,
    )
    assert.equal(none.code, 2)
  })
})

suite('keygen for a witness', () => {
  test('prints the vkeys that a witness with these keys has', async () => {
    const [classic, quantum] = [join(folder, 'w.key'), join(folder, 'w.ml-dsa.key')]
    const name = ['--origin', 'w.example/one']
    const made = [
      await run(['keygen', '--to', classic, '--witness', ...name]),
      await run(['keygen', '--to', quantum, '--ml-dsa', ...name]),
    ].map(({ stdout }) => stdout)
    const shown = [
      await run(['keygen', '--show', classic, '--witness', ...name]),
      await run(['keygen', '--show', quantum, ...name]),
    ].map(({ stdout }) => stdout)
    assert.deepEqual(shown, made)
    assert.match(made[0] ?? '', /^w\.example\/one\+[0-9a-f]{8}\+B[A-Za-z0-9+/]{43}\n$/)
    assert.match(made[1] ?? '', /^w\.example\/one\+[0-9a-f]{8}\+B[A-Za-z0-9+/]{1750}=*\n$/)
    assert.match(readFileSync(quantum, 'utf8'), /^-----BEGIN PRIVATE KEY-----/)
  })
})
