import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomOf } from '../../../sim/random.ts'
import { audit, saidBy } from './campaign-audits.ts'
import { chosenFaults, type Cluster, type FiredFault } from './cluster.ts'
import { type ClusterPublishers, openClusterPublishers } from './cluster-publishers.ts'
import { type EndlessInput, openEndlessInput } from './endless-input.ts'
import type { AuditFault, History, NodeState, Recovery, SeenTree } from './history.ts'
import { lossesOf } from './history-checker.ts'
import { type HoppingSubscribers, openHoppingSubscribers } from './hopping-subscribers.ts'
import { measureShare } from '../../processes/machine-share.ts'
import { readAnswers, readEntries, readHeld, readTree } from './node-answers.ts'

/** Size of a campaign. */
export type CampaignSettings = Readonly<{
  /** Folder for files of the run. */
  folder: string
  seed: string
  faults: number
  /** Names of the faults of the first rounds, one round each. A name with ` + ` between fires several at once. */
  first?: readonly string[]
  /** Acknowledgements before each round of faults and after the last, so that a slow machine publishes as much. */
  acksPerRound: number
  subscribers: number
  publishers: number
  /** Mean pause of a publisher between two requests. */
  paceMs: number
  /** Mean time between two hops of a subscriber. */
  hopMs: number
  /** Whether some subscribers ask for one type of events, and some for details. */
  filters?: boolean
  /** Shortest and longest duration of a fault. */
  faultMs: readonly [least: number, most: number]
}>

/** Counts of a campaign, for the report and for the least amounts that a run needs. */
type CampaignCounts = Readonly<Record<string, number>>

type CampaignResult = Readonly<{
  history: History
  /** Times that each fault took effect, by its name. */
  fired: Readonly<Record<string, number>>
  counts: CampaignCounts
}>

/** Time without a fault between two rounds. */
const CALM_MS = [100, 500] as const
/** Share of the streams that a reset closes. */
const RESET_SHARE = 0.5
/** Mean time between two lines of the endless input. */
const INPUT_PACE_MS = 300
const ROUNDS_PER_STANDSTILL = 8
/** Longest wait for nodes, publishers and subscribers. A longer one is a violation, and the run ends. */
const WAIT_MS_MAX = 60_000
const POLL_MS = 50

/** Parts of a run, and what it has recorded so far. */
type Stage = Readonly<{
  cluster: Cluster
  settings: CampaignSettings
  publishers: ClusterPublishers
  input: EndlessInput
  subscribers: HoppingSubscribers
  trees: SeenTree[]
  recoveries: Recovery[]
  standstills: (readonly NodeState[])[]
  fired: Record<string, number>
}>

/** Runs publishers and subscribers while faults are fired at a cluster, and records the history. Stops the nodes. */
export async function runCampaign(cluster: Cluster, settings: CampaignSettings): Promise<CampaignResult> {
  const { seed } = settings
  const { nodes, token, pay } = cluster
  await using subscribers = openHoppingSubscribers({ ...settings, seed: `${seed} subscribers` })
  using publishers = openClusterPublishers({ ...settings, nodes, token, pay })
  using input = openEndlessInput({ ...settings, cluster, paceMs: INPUT_PACE_MS })
  for (const { begin } of cluster.companions) begin(nodes)
  const recorded = { trees: [], recoveries: [], standstills: [], fired: {} }
  const stage: Stage = { cluster, settings, publishers, input, subscribers, ...recorded }
  await fireAll(stage)
  await standStill(stage)
  await Promise.all([publishers.end(), input.end()])

  const auditFaults: AuditFault[] = []
  const verifyWords = cluster.companions.flatMap((one) => one.verifyWords)
  for (const { name, url } of nodes)
    auditFaults.push(...(await audit(name, 'verify', [url() ?? '', ...verifyWords])))
  const companions = await Promise.all(cluster.companions.map(({ end }) => end()))
  auditFaults.push(...companions.flatMap(({ faults }) => faults))
  const size = stage.standstills.at(-1)?.[0]?.head ?? 0
  const entries = await readEntries(nodes[0]?.url() ?? '', size)
  const {
    is: _,
    visits,
    firstLines,
    discords,
    bare,
    firstSeenMs,
    firstDetails,
    counts: seen,
  } = await subscribers.end()
  for (const node of await cluster.stop())
    auditFaults.push({ node, audit: 'end', output: 'it did not end with code 0 after SIGTERM' })
  for (const { name, data } of nodes) auditFaults.push(...(await audit(name, 'check', ['--data', data])))

  auditFaults.push(...((await cluster.audit?.()) ?? []))

  const { trees, recoveries, standstills, fired } = stage
  const requests = [...(cluster.before ?? []), ...publishers.requests]
  return {
    history: {
      entries,
      requests,
      input: input.drafts,
      visits,
      firstLines: new Map(firstLines),
      firstSeenMs: new Map(firstSeenMs),
      firstDetails: new Map(firstDetails),
      bare: new Set(bare),
      discords,
      trees,
      recoveries,
      standstills,
      auditFaults,
      finals: cluster.finals(),
      outbox: [],
      witnessed: [],
      backups: [],
      ...Object.assign({}, ...companions.map((one) => one.history)),
    },
    fired,
    counts: {
      events: size,
      requests: requests.length,
      input: input.drafts.length,
      trees: trees.length,
      ...publishers.counts,
      ...seen,
      ...Object.assign({}, ...companions.map((one) => one.counts)),
    },
  }
}

/** Fires faults, heals them and waits for recovery, until enough have taken effect. */
async function fireAll(stage: Stage): Promise<void> {
  const { cluster, settings, publishers, subscribers, fired } = stage
  const random = randomOf(`${settings.seed} faults`)
  const tellNodes = (): void => subscribers.nodes(cluster.nodes.map(({ name, url }) => [name, url()]))
  const reset = async (): Promise<FiredFault | null> =>
    (await subscribers.cut(RESET_SHARE)) === 0 ? null : { heal: async () => undefined }
  const faults = [...cluster.faults, { name: 'reset streams', place: 'streams', fire: reset }]
  tellNodes()
  const total = (): number => Object.values(fired).reduce((sum, count) => sum + count, 0)
  for (let round = 1; total() < settings.faults; round += 1) {
    await published(stage, settings.acksPerRound, 'with nothing wrong')
    const begun: { name: string; heal: FiredFault['heal'] }[] = []
    const names = settings.first?.[round - 1]?.split(' + ') ?? []
    const named = faults.filter(({ name }) => names.includes(name))
    assert.equal(named.length, names.length, `there is no fault ${names.join(', or no ')}`)
    for (const { name, fire } of named.length > 0 ? named : chosenFaults(faults, fired, random)) {
      const fault = await fire()
      if (fault === null) continue
      begun.push({ name, heal: fault.heal })
      fired[name] = (fired[name] ?? 0) + 1
    }
    tellNodes()
    await Promise.race([sleep(random.between(...settings.faultMs)), publishers.failed])
    await Promise.all(begun.map(({ heal }) => heal()))
    tellNodes()
    if (begun.length > 0)
      await recover(
        stage,
        begun.map(({ name }) => name),
      )
    await sleep(random.between(...CALM_MS))
    if (round % ROUNDS_PER_STANDSTILL === 0) await standStill(stage, 'go on')
  }
  await published(stage, settings.acksPerRound, 'after the last fault')
}

/** Signed trees of all nodes; null for one that does not answer. */
async function readTrees({ cluster, trees }: Stage): Promise<readonly (SeenTree | null)[]> {
  const found = await Promise.all(
    cluster.nodes.map(async ({ name, url }) => {
      const at = url()
      return at === null ? null : readTree(name, at).catch(() => null)
    }),
  )
  trees.push(...found.filter((tree) => tree !== null))
  await Promise.all(cluster.companions.map(({ look }) => look()))
  return found
}

/** Waits until every node has the newest event that one of them has now. Returns the time since a moment. */
async function agree(stage: Stage, fromMs: number): Promise<number> {
  const newest = Math.max(...(await readTrees(stage)).map((tree) => tree?.size ?? 0))
  for (;;) {
    const found = await readTrees(stage)
    if (found.every((tree) => (tree?.size ?? -1) >= newest)) return performance.now() - fromMs
    const heads = found.map((tree, index) => `${stage.cluster.nodes[index]?.name} ${tree?.size}`)
    assertInTime(stage, fromMs, `the nodes do not reach ${newest}: ${heads.join(', ')}`)
    await sleep(POLL_MS)
  }
}

/** Waits until publishers have so many more acknowledgements. */
async function published(stage: Stage, acks: number, when: string): Promise<void> {
  const { publishers } = stage
  const [fromMs, before] = [performance.now(), publishers.counts.acks]
  while (publishers.counts.acks < before + acks) {
    assertInTime(stage, fromMs, `no publisher is answered ${when}`)
    await Promise.race([sleep(POLL_MS), publishers.failed])
  }
}

/** Notes how long all nodes and the publishers need after some faults. */
async function recover(stage: Stage, faults: readonly string[]): Promise<void> {
  const { cluster, recoveries, publishers } = stage
  await cluster.hasLeader()
  const fromMs = performance.now()
  const share = measureShare()
  const acknowledged = publishers.requests.map((request) => ({ ...request, acks: [...request.acks] }))
  const answered = published(stage, 1, `after ${faults.join(' and ')}`).then(() => performance.now() - fromMs)
  const [agreeMs, publishMs] = await Promise.all([agree(stage, fromMs), answered])
  recoveries.push({ faults, agreeMs, publishMs, slowness: share.slowness() })
  const [one] = cluster.nodes
  const size = one === undefined ? 0 : (await readTree(one.name, one.url() ?? '')).size
  const losses = lossesOf(acknowledged, await readEntries(one?.url() ?? '', size))
  assert.deepEqual(losses, [], `after ${faults.join(' and ')}\n${saidBy(cluster)}`)
}

/** Compares all nodes while nobody publishes. The last time, publishers do not go on. */
async function standStill(stage: Stage, then: 'go on' | 'end' = 'end'): Promise<void> {
  const { cluster, publishers, input, subscribers, standstills } = stage
  const { companions } = cluster
  await Promise.all([publishers.pause(), input.pause(), ...companions.map(({ pause }) => pause())])
  await nothingHeld(stage)
  await agree(stage, performance.now())
  const before = await readTrees(stage)
  const size = before[0]?.size ?? 0
  const lacking = await subscribers.lacking(size, WAIT_MS_MAX)
  assert.equal(
    lacking,
    0,
    `${lacking} subscribers lack events up to ${size}
${saidBy(cluster)}`,
  )
  await Promise.all(companions.map(({ settled }) => settled(size)))
  const urls = cluster.nodes.map(({ name, url }) => [name, url() ?? ''] as const)
  const answers = await readAnswers(urls, await readEntries(urls[0]?.[1] ?? '', size))
  standstills.push(
    cluster.nodes.map(({ name }, index) => ({
      node: name,
      head: before[index]?.size ?? 0,
      root: before[index]?.root ?? '',
      answers: answers.get(name) ?? new Map<string, string>(),
    })),
  )
  if (then === 'end') return
  publishers.resume()
  input.resume()
  for (const { resume } of companions) resume()
}

/** Waits until the chain has settled every held draft. */
async function nothingHeld(stage: Stage): Promise<void> {
  const fromMs = performance.now()
  // A mirror passes the number on as the word of its origin, some time later.
  for (const { name, url } of stage.cluster.nodes.filter(({ kind }) => kind === 'writer')) {
    for (;;) {
      const held = await readHeld(url() ?? '').catch(() => null)
      if (held === 0) break
      assertInTime(stage, fromMs, `${name} holds ${held} drafts`)
      await sleep(POLL_MS)
    }
  }
}

function assertInTime({ cluster, publishers }: Stage, fromMs: number, what: string): void {
  if (performance.now() - fromMs < WAIT_MS_MAX) return
  const answers = [...publishers.unsettled].map(([name, answer]) => `${name}: ${answer}`).join('\n')
  assert.fail(`${what}\n${answers}\n${saidBy(cluster)}`)
}
