import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDaybook } from '../../stage/started-daybook.ts'
import type { SoakNode } from './soak-node.ts'

/** Deeds of the operator of a soak, each at its share of the whole run. Those that change options restart the writer. */
export type SoakCourse = Readonly<{
  counts: Readonly<Record<string, number>>
  /** Starts the writer with the present options. */
  begin(): Promise<void>
  token: string
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

const TOKEN = 'the-token-of-the-soak-0123456789abcdef'
const RESTARTS_PER_HOUR = 2
const SAID_CHARACTERS = 2_000

export function openSoakCourse({ folder, writer, hours, onStart }: Settings): SoakCourse {
  const counts = {
    restarts: 0,
    kills: 0,
    backups: 0,
    rebuilds: 0,
  }
  const tokenFile = join(folder, 'tokens')
  writeFileSync(tokenFile, `${TOKEN}\n`)
  const start = (): Promise<void> => {
    onStart()
    const log = ['serve', '--chain', 'opaque', '--publish-token-file', tokenFile]
    return writer.start([...log, '--rate-limit', 'off'])
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
  const single: readonly (readonly [share: number, name: string, act: () => Promise<void>])[] = [
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
    token: TOKEN,
    next() {
      const [share, name, act] = queue.shift() ?? []
      return share === undefined || name === undefined || act === undefined ? null : { share, name, act }
    },
  }
}
