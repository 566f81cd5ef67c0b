import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NodeProcess } from '../../test/stage/node-process.ts'
import { share } from '../stage/measure.ts'
import { thousands } from '../stage/report.ts'
import type { Slice } from '../stream/stream-crowd.ts'
import { cpuSecondsOf, openCrowd } from '../stream/stream-crowd.ts'
import { headOf } from './cluster-nodes.ts'

/** Subscribers of a scene, divided among its nodes. */
export const SUBSCRIBERS = 300
/** Events a second of the paced slices. */
export const PACE = 25
const CONTESTS = 64
const BODIES = 200_000
/** A mirror may be two seconds late, so the window is wide. A writer lets 64 requests wait: the batches are large. */
const FLOOD = { batch: 500, window: 10_000 }

/** A node that serves streams. */
export type StreamNode = Readonly<{ kind: string; url: string; pid: number }>

/** Cost of deliveries in one scene. */
export type StreamScene = Readonly<{
  name: string
  nodes: number
  deliveriesPerSecond: number
  p50: number
  p99: number
  /** Microseconds of processor time for each delivery of a node, by the kind of the node, at the pace. */
  cpu: ReadonlyMap<string, number>
}>

/** Measures deliveries of events that are published at the first node. Repeats the slices `rounds` times. */
export async function streamScene(
  name: string,
  nodes: readonly StreamNode[],
  publisher: NodeProcess,
  {
    folder,
    load,
    rounds,
    sliceMs,
    paceMs,
  }: Readonly<{ folder: string; load: string; rounds: number; sliceMs: number; paceMs: number }>,
): Promise<StreamScene> {
  const label = name.replaceAll(/\W+/g, '-')
  writePlays(join(folder, 'drafts'), label)
  const head = await headOf(publisher.url)
  const ports = nodes.map(({ url }) => Number(new URL(url).port))
  const publishPort = Number(new URL(publisher.door).port)
  await using crowd = await openCrowd(
    load,
    folder,
    {
      name: 'Daybook',
      pid: publisher.child.pid ?? 0,
      port: ports[0] ?? 0,
      subscribe: `GET /api/v1/stream?after=${head} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n`,
      publishPort,
      publishHead: `POST /publish HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${publisher.token}\r\nContent-Type: application/x-ndjson\r\n`,
      takes: 'drafts',
      [Symbol.asyncDispose]: async () => undefined,
    },
    SUBSCRIBERS,
    { ports, head },
  )
  const floods: Slice[] = []
  const paced: Slice[] = []
  const cpu = new Map<string, number[]>()
  for (let round = 0; round <= rounds; round++) {
    const flood = await crowd.flood(FLOOD.batch, FLOOD.window, sliceMs)
    const before = nodes.map(({ pid }) => cpuSecondsOf(pid))
    const pace = await crowd.pace(PACE, paceMs)
    if (round === 0) continue
    floods.push(flood)
    paced.push(pace)
    for (const [index, { kind, pid }] of nodes.entries()) {
      const seconds = cpuSecondsOf(pid) - (before[index] ?? 0)
      const each = (seconds * 1e6) / (pace.deliveries / nodes.length)
      cpu.set(kind, [...(cpu.get(kind) ?? []), each])
    }
  }
  const median = (of: readonly Slice[], figure: (slice: Slice) => number): number =>
    share(of.map(figure), 0.5)
  return {
    name,
    nodes: nodes.length,
    deliveriesPerSecond: median(
      floods,
      ({ deliveries, ms, drainedMs }) => (deliveries * 1_000) / (ms + drainedMs),
    ),
    p50: median(paced, ({ p50 }) => p50),
    p99: median(paced, ({ p99 }) => p99),
    cpu: new Map([...cpu].map(([kind, each]) => [kind, share(each, 0.5)])),
  }
}

/** Rows of the table of scenes. The ratio is to the first scene with one node of the same kind. */
export function sceneRows(scenes: readonly StreamScene[]): readonly (readonly string[])[] {
  let alone = 0
  return scenes.map(({ name, nodes, deliveriesPerSecond, p50, p99, cpu }) => {
    if (nodes === 1) alone = deliveriesPerSecond
    return [
      name,
      thousands(Math.round(deliveriesPerSecond)),
      (deliveriesPerSecond / alone).toFixed(2),
      p50.toFixed(1),
      p99.toFixed(1),
      [...cpu].map(([kind, each]) => `${kind} ${each.toFixed(1)}`).join(' · '),
    ]
  })
}

/** Plays of contests that are open. */
function writePlays(path: string, name: string): void {
  const plays = Array.from(
    { length: BODIES },
    (_, index) =>
      `{"ref":"${name}-${index}","type":"play","kind":"vote","contestId":${(index % CONTESTS) + 1},"kots":"${(index % 9) + 1}.25"}\n`,
  )
  writeFileSync(path, plays.join(''))
}
