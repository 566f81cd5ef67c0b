import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseCheckpoint } from '../../../src/tlog/checkpoint.ts'
import type { ClusterFault, ClusterNode, Companion } from '../history/cluster.ts'
import type { AuditFault, SeenTree } from '../history/history.ts'
import { relayFaults } from '../history/relay-faults.ts'
import { type FaultRelay, openFaultRelay } from '../history/fault-relay.ts'
import { until } from '../../processes/other-program.ts'
import { run } from '../../stage/command-stage.ts'
import { type Litewitness, startLitewitness } from '../../witness/litewitness.ts'
import { type FaultyWitness, startOwnWitness } from './faulty-witness.ts'

const QUORUM = 2
/** Longest time until the newest tree of each writer has a quorum. */
const SETTLED_MS_MAX = 90_000
const LOOK_MS_MAX = 5_000

/** Three witnesses of two authors, with a relay before each. The writers get `words`. */
type WitnessCompany = Companion & AsyncDisposable & Readonly<{ words: readonly string[] }>

type Settings = Readonly<{ folder: string; keyFile: string; origin: string }>

export async function openWitnessCompany({
  folder: parent,
  keyFile,
  origin,
}: Settings): Promise<WitnessCompany> {
  await using opening = new AsyncDisposableStack()
  const folder = join(parent, 'witnesses')
  mkdirSync(folder)
  const shown = await run(['keygen', '--show', keyFile, '--origin', origin])
  assert.equal(shown.code, 0, shown.stderr)
  const vkey = shown.stdout.trim()
  const lite = opening.use(await startLitewitness('litewitness.example/three', [{ origin, vkeys: [vkey] }]))
  const witnesses: FaultyWitness[] = [liteProcess(lite, folder)]
  for (const name of ['witness.example/one', 'witness.example/two'])
    witnesses.push(opening.use(await startOwnWitness(folder, name, vkey)))
  const counts = { witnessed: 0, restoresRefused: 0, statesRestored: 0 }
  const faults: ClusterFault[] = []
  const given: string[] = []
  for (const witness of witnesses) {
    const relay = opening.use(await openFaultRelay(() => Number(new URL(witness.url).port)))
    given.push(...witness.vkeys.map((one) => `${one}=http://127.0.0.1:${relay.port}`))
    faults.push(...faultsOf(witness, relay, counts))
  }
  const seen: SeenTree[] = []
  let nodes: readonly ClusterNode[] = []
  const look = async (): Promise<void> => {
    const found = await Promise.all(nodes.map(witnessedBy))
    seen.push(...found.filter((tree) => tree !== null))
    counts.witnessed = new Set(seen.map(({ size }) => size)).size
  }
  const open = opening.move()
  return {
    words: ['--witness-quorum', String(QUORUM), ...given.flatMap((one) => ['--witness', one])],
    verifyWords: ['--key', vkey, '--quorum', String(QUORUM), ...given.flatMap((one) => ['--witness', one])],
    faults,
    begin: (running) => void (nodes = running),
    look,
    pause: async () => undefined,
    settled: (size) =>
      until(
        `a quorum vouches for all ${size} events at each writer`,
        async () => {
          const trees = await Promise.all(nodes.filter(({ kind }) => kind === 'writer').map(witnessedBy))
          return trees.every((tree) => tree?.size === size)
        },
        SETTLED_MS_MAX,
      ),
    resume: () => undefined,
    async end() {
      const ended: AuditFault[] = []
      for (const { name, end } of witnesses) {
        const code = await end()
        if (code !== 0) ended.push({ node: name, audit: 'end', output: `it ended with ${code}` })
      }
      return { history: { witnessed: seen }, faults: ended, counts }
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

/** The witnessed tree that a node shows; null when it has none, or is down. */
async function witnessedBy({ name, url }: ClusterNode): Promise<SeenTree | null> {
  const at = url()
  if (at === null) return null
  try {
    const answer = await fetch(`${at}/api/v1/log/checkpoint.witnessed`, {
      signal: AbortSignal.timeout(LOOK_MS_MAX),
    })
    const checkpoint = parseCheckpoint(`${(await answer.text()).split('\n\n', 1)[0]}\n`)
    if (answer.status !== 200 || checkpoint === undefined) return null
    return { node: name, size: checkpoint.size, root: Buffer.from(checkpoint.root).toString('hex') }
  } catch {
    return null
  }
}

function liteProcess(lite: Litewitness, folder: string): FaultyWitness {
  const kept = join(folder, 'litewitness.db')
  return {
    name: 'litewitness',
    url: lite.url,
    vkeys: [lite.vkey],
    kill: () => lite.stop('SIGKILL'),
    start: lite.start,
    keep: () => copyFileSync(lite.database, kept),
    async restore() {
      if (existsSync(kept)) copyFileSync(kept, lite.database)
      await lite.start()
      return 'restored'
    },
    async end() {
      await lite.stop()
      return 0
    },
    [Symbol.asyncDispose]: () => lite.stop('SIGKILL'),
  }
}

function faultsOf(
  witness: FaultyWitness,
  relay: FaultRelay,
  counts: { restoresRefused: number; statesRestored: number },
): readonly ClusterFault[] {
  const { name } = witness
  let isKept = false
  return [
    {
      name: `kill ${name}`,
      place: name,
      async fire() {
        await witness.kill()
        witness.keep()
        isKept = true
        return { heal: witness.start }
      },
    },
    {
      name: `restore ${name}`,
      place: name,
      async fire() {
        if (!isKept) return null
        isKept = false
        await witness.kill()
        return {
          async heal() {
            counts[(await witness.restore()) === 'refused' ? 'restoresRefused' : 'statesRestored'] += 1
          },
        }
      },
    },
    ...relayFaults(`link of ${name}`, [relay]),
  ]
}
