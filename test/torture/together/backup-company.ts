import type { ChildProcess } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomOf } from '../../../sim/random.ts'
import { openReader } from '../../../src/log/open-reader.ts'
import { parseCheckpoint } from '../../../src/tlog/checkpoint.ts'
import type { ClusterNode, Companion } from '../history/cluster.ts'
import type { AuditFault, RestoredBackup } from '../history/history.ts'
import { readTree } from '../history/node-answers.ts'
import { run } from '../../stage/command-stage.ts'
import { startDaybook } from '../../stage/started-daybook.ts'

/** Mean time between two backups. */
const PACE_MS = 4_000
/** Backups that are restored at the end: the newest, and others at equal distances. */
const RESTORED_MAX = 12
const SAID_CHARACTERS = 1_000

type MadeBackup = Readonly<{ name: string; path: string; least: number }>
type Settings = Readonly<{ folder: string; seed: string; keyFile: string }>

/** Backups of the writers' stores, one after another, in processes that may be killed. */
export function openBackupCompany({ folder, seed, keyFile }: Settings): Companion & AsyncDisposable {
  const random = randomOf(`${seed} backups`)
  const made: MadeBackup[] = []
  const faults: AuditFault[] = []
  const stop = new AbortController()
  let child: ChildProcess | null = null
  let killed = 0
  let running: Promise<void> = Promise.resolve()

  const backUpOne = async ({ name, data, url }: ClusterNode, number: number): Promise<void> => {
    const path = join(folder, `backup-${number}.db`)
    const at = url()
    // A node that is down says nothing; its store is copied all the same.
    const least =
      at === null
        ? 0
        : await readTree(name, at).then(
            ({ size }) => size,
            () => 0,
          )
    const own = startDaybook(['backup', '--data', data, '--to', path])
    child = own.child
    const { signal } = await own.ended()
    child = null
    if (existsSync(path)) made.push({ name: `backup ${number} of ${name}`, path, least })
    else if (signal === null)
      faults.push({ node: name, audit: 'backup', output: own.stderr().slice(-SAID_CHARACTERS) })
  }
  const backUpAll = async (nodes: readonly ClusterNode[]): Promise<void> => {
    const writers = nodes.filter(({ kind }) => kind === 'writer')
    for (let number = 1; !stop.signal.aborted; number += 1) {
      await sleep(random.exponential(PACE_MS), undefined, { signal: stop.signal }).catch(() => undefined)
      const writer = writers[random.below(writers.length)]
      if (writer !== undefined && !stop.signal.aborted) await backUpOne(writer, number)
    }
  }
  const restoreOne = async (
    { name, path, least }: MadeBackup,
    number: number,
  ): Promise<RestoredBackup | null> => {
    const data = join(folder, `restored-${number}`)
    copyFileSync(keyFile, `${data}.key`)
    for (const [audit, words] of [
      ['restore', ['--from', path]],
      ['check', []],
    ] as const) {
      const { code, stdout, stderr } = await run([audit, '--data', data, ...words])
      if (code === 0) continue
      faults.push({ node: name, audit, output: `${stdout}${stderr}`.slice(-SAID_CHARACTERS) })
      return null
    }
    const reader = openReader(data, null)
    const checkpoint = parseCheckpoint(
      `${reader.snapshot((log) => log.tree.checkpoint()).split('\n\n', 1)[0]}\n`,
    )
    reader.close()
    rmSync(data, { recursive: true })
    if (checkpoint === undefined) return null
    const root = Buffer.from(checkpoint.root).toString('hex')
    return { node: name, size: checkpoint.size, root, least }
  }
  const nothing = async (): Promise<void> => undefined
  return {
    faults: [
      {
        name: 'kill a backup',
        place: 'backups',
        async fire() {
          if (child?.kill('SIGKILL') !== true) return null
          killed += 1
          return { heal: nothing }
        },
      },
    ],
    verifyWords: [],
    begin(nodes) {
      mkdirSync(folder, { recursive: true })
      running = backUpAll(nodes)
      running.catch(() => undefined)
    },
    look: nothing,
    pause: nothing,
    settled: nothing,
    resume: () => undefined,
    async end() {
      stop.abort()
      await running
      const step = Math.max(1, Math.ceil(made.length / RESTORED_MAX))
      const backups: RestoredBackup[] = []
      for (const [index, one] of made.toReversed().entries()) {
        if (index % step !== 0) continue
        const restored = await restoreOne(one, index)
        if (restored !== null) backups.push(restored)
      }
      const counts = { backups: made.length, backupsKilled: killed, restored: backups.length }
      return { history: { backups }, faults, counts }
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      child?.kill('SIGKILL')
      await running.catch(() => undefined)
    },
  }
}
