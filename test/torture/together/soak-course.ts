import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from '../../stage/command-stage.ts'
import { startDaybook } from '../../stage/started-daybook.ts'
import { SOAK_ORIGIN } from './soak-history.ts'
import type { SoakNode } from './soak-node.ts'

/** Deeds of the operator of a soak, each at its share of the whole run. Those that change options restart the writer. */
export type SoakCourse = Readonly<{
  counts: Readonly<Record<string, number>>
  /** Starts the writer with the present options. */
  begin(): Promise<void>
  token(): string
  /** The next thing that happens: its moment as a share of the run, and its name. Null at the end. */
  next(): Readonly<{ share: number; name: string; act(): Promise<void> }> | null
}>

type Settings = Readonly<{
  folder: string
  writer: SoakNode
  hours: number
  /** Called before each start of the writer. */
  onStart(): void
}>

const TOKENS = [
  'the-first-token-of-the-soak-0123456789abcdef',
  'the-second-token-of-the-soak-0123456789abcde',
]
const FULL_DISK_MS = 8_000
const RESTARTS_PER_HOUR = 2
const SAID_CHARACTERS = 2_000

export function openSoakCourse({ folder, writer, hours, onStart }: Settings): SoakCourse {
  const counts = {
    restarts: 0,
    kills: 0,
    backups: 0,
    rebuilds: 0,
    keyChanges: 0,
    tokenChanges: 0,
    fullDisks: 0,
  }
  const tokenFile = join(folder, 'tokens')
  const [oldKey, newKey] = [`${writer.data}.key`, join(folder, 'new.key')]
  let keys: readonly string[] = [oldKey]
  let token = TOKENS[0] ?? ''
  writeFileSync(tokenFile, `${token}\n`)
  const start = (): Promise<void> => {
    onStart()
    const log = ['serve', '--chain', 'opaque', '--publish-token-file', tokenFile]
    return writer.start([...log, '--signing-key-file', keys.join(','), '--rate-limit', 'off'])
  }
  const stop = async (how: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const code = await writer.end(how)
    if (how === 'SIGTERM') assert.equal(code, 0, writer.said().slice(-SAID_CHARACTERS))
    counts[how === 'SIGTERM' ? 'restarts' : 'kills'] += 1
  }
  const daybook = async (...words: readonly string[]): Promise<void> => {
    const own = startDaybook(words)
    const { code } = await own.ended()
    assert.equal(code, 0, `${words[0]}: ${own.stderr().slice(-SAID_CHARACTERS)}`)
  }
  const restart = async (
    how: 'SIGTERM' | 'SIGKILL',
    change = async (): Promise<void> => undefined,
  ): Promise<void> => {
    await stop(how)
    await change()
    await start()
  }
  const limitFiles = (bytes: string): void => {
    execFileSync('prlimit', ['--pid', String(writer.pid()), `--fsize=${bytes}:unlimited`])
  }
  const single: readonly (readonly [share: number, name: string, act: () => Promise<void>])[] = [
    [
      0.2,
      'old and new key sign',
      () =>
        restart('SIGTERM', async () => {
          const made = await run(['keygen', '--to', newKey, '--origin', SOAK_ORIGIN])
          assert.equal(made.code, 0, made.stderr)
          keys = [oldKey, newKey]
          counts.keyChanges += 1
        }),
    ],
    [
      0.3,
      'a second token',
      () => restart('SIGTERM', async () => writeFileSync(tokenFile, `${TOKENS.join('\n')}\n`)),
    ],
    [
      0.5,
      'the store is built again',
      () =>
        restart('SIGTERM', async () => {
          await daybook('upgrade', '--data', writer.data, '--rebuild')
          await daybook('upgrade', '--data', writer.data, '--remove-old')
          counts.rebuilds += 1
        }),
    ],
    [
      0.6,
      'the new key and token alone',
      async () => {
        token = TOKENS[1] ?? ''
        await restart('SIGTERM', async () => {
          writeFileSync(tokenFile, `${token}\n`)
          keys = [newKey]
          counts.tokenChanges += 1
        })
      },
    ],
    [
      0.7,
      'a full disk',
      async () => {
        limitFiles('1')
        await sleep(FULL_DISK_MS)
        limitFiles('unlimited')
        counts.fullDisks += 1
      },
    ],
  ]
  const all = [...single]
  for (let hour = 0; hour < hours; hour += 1) {
    for (let place = 0; place < RESTARTS_PER_HOUR; place += 1) {
      const isKill = (hour + place) % 2 === 1
      const share = (hour + (place + 0.6) / RESTARTS_PER_HOUR) / hours
      all.push([share, isKill ? 'killed' : 'restarted', () => restart(isKill ? 'SIGKILL' : 'SIGTERM')])
    }
    all.push([
      (hour + 0.55) / hours,
      'backup',
      async () => {
        const path = join(folder, 'backup.db')
        rmSync(path, { force: true })
        await daybook('backup', '--data', writer.data, '--to', path)
        counts.backups += 1
      },
    ])
  }
  const queue = all.toSorted(([a], [b]) => a - b)
  return {
    counts,
    begin: start,
    token: () => token,
    next() {
      const [share, name, act] = queue.shift() ?? []
      return share === undefined || name === undefined || act === undefined ? null : { share, name, act }
    },
  }
}
