import assert from 'node:assert/strict'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../../sim/random.ts'
import { STORE_FILE } from '../../../src/log/store/store.ts'
import { run } from '../../stage/command-stage.ts'
import { shimEnv } from '../../torture/store/io-shim.ts'
import type { ClusterFault, FiredFault } from '../../torture/history/cluster.ts'
import { untilLed, type Writer } from './leader-faults.ts'
import type { ServerPair } from './server-pair.ts'
import { grown } from './server-faults.ts'

/** Steps of the clock of a node, in milliseconds. Larger ones forwards would leave events of the future in the log. */
const STEPS_MS = [-86_400_000, -3_600_000, -5_000, -700, 700, 3_000] as const
/** Rows that a backup lacks at least when it is restored. */
const BACKUP_ROWS = 3

/** File with the step of a node's clock (`stepped-clock.ts`). */
export const clockFile = (folder: string, name: string): string => join(folder, `clock-of-${name}`)

/** File that fills the disk of a node while it exists. */
const fullDiskFile = (folder: string, name: string): string => join(folder, `full-disk-of-${name}`)

/** More calls than a node makes. */
const ALL = 1_000_000_000

/** Environment of a node whose disk can be filled. */
export function fillableDisk(folder: string, name: string, data: string): Readonly<Record<string, string>> {
  return shimEnv({
    root: data,
    calls: ['pwrite', 'fallocate', 'ftruncate'],
    files: [STORE_FILE, `${STORE_FILE}-wal`],
    onlyWhile: fullDiskFile(folder, name),
    fail: { at: 1, error: 'ENOSPC', times: ALL },
  })
}

/** Faults of one writer's machine: its clock, its disk, its directory. */
export function machineFaults(
  { faulty }: Writer,
  folder: string,
  servers: ServerPair,
  random: Random,
): readonly ClusterFault[] {
  const { name } = faulty.node
  const clock = clockFile(folder, name)
  const fullDisk = async (): Promise<FiredFault> => {
    writeFileSync(fullDiskFile(folder, name), '')
    return {
      async heal() {
        rmSync(fullDiskFile(folder, name))
        // It may have ended because of its disk. An operator starts it again.
        await faulty.stop()
        await faulty.start()
      },
    }
  }
  return [
    {
      name: `step the clock of ${name}`,
      // A node that starts with a wrong clock would not believe the right one.
      place: name,
      async fire() {
        writeFileSync(clock, String(random.pick(STEPS_MS)))
        return { heal: async () => writeFileSync(clock, '0') }
      },
    },
    { name: `fill the disk of ${name}`, place: name, fire: fullDisk },
    ...(name === 'a' ? [] : directoryFaults(faulty, folder, servers)),
  ]
}

/** Faults of the directory of a writer that no mirror follows: a mirror stops at a node that has served more. */
function directoryFaults(
  { node: { name, data }, stop, start }: Writer['faulty'],
  folder: string,
  servers: ServerPair,
): readonly ClusterFault[] {
  let number = 0
  return [
    {
      name: `join ${name} with an empty directory`,
      place: 'directories',
      isAlone: true,
      async fire() {
        await stop()
        rmSync(data, { recursive: true })
        return { heal: start }
      },
    },
    {
      name: `restore an older backup of ${name}`,
      place: 'directories',
      isAlone: true,
      async fire() {
        number += 1
        const path = join(folder, `backup-${number}-of-${name}.db`)
        await succeed(['backup', '--data', data, '--to', path])
        await grown(servers, BACKUP_ROWS)
        await stop()
        renameSync(data, join(folder, `replaced-${number}-of-${name}`))
        await succeed([
          'restore',
          '--data',
          data,
          '--from',
          path,
          '--signing-key-file',
          join(folder, 'log.key'),
        ])
        rmSync(path)
        return { heal: start }
      },
    },
  ]
}

async function succeed(words: readonly string[]): Promise<void> {
  const { code, stderr } = await run(words)
  assert.equal(code, 0, `${words[0]}: ${stderr}`)
}

/** Faults of all writers at once. */
export function companyFaults(writers: readonly Writer[]): readonly ClusterFault[] {
  const ended = (signal: 'SIGTERM' | 'SIGKILL') => async (): Promise<FiredFault> => {
    await Promise.all(writers.map(({ faulty }) => faulty.stop(signal)))
    return { heal: async () => void (await Promise.all(writers.map(({ faulty }) => faulty.start()))) }
  }
  const place = { place: 'all', isAlone: true }
  return [
    { name: 'restart all nodes', ...place, fire: ended('SIGTERM') },
    { name: 'kill all nodes', ...place, fire: ended('SIGKILL') },
  ]
}

/** Port to which a writer's relays lead in place of a server: that of a pooler. */
export type PooledPorts = Map<string, number>

/** Puts a transaction pooler between the leader and the servers, and between another node and the servers. */
export function poolerFault(
  writers: readonly Writer[],
  pooled: PooledPorts,
  poolerPort: number,
): ClusterFault {
  return {
    name: 'put a pooler before two nodes',
    place: 'servers',
    isAlone: true,
    async fire() {
      const leader = await untilLed(writers)
      const two = [leader, ...writers.filter((writer) => writer !== leader).slice(0, 1)]
      const cut = ({ links }: Writer): void => links.forEach((link) => link.cut())
      for (const writer of two) {
        pooled.set(writer.faulty.node.name, poolerPort)
        cut(writer)
      }
      return {
        async heal() {
          pooled.clear()
          for (const writer of two) cut(writer)
        },
      }
    },
  }
}
