import { cpSync, createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { bulkLines } from '../../sim/bulk.ts'
import { writeDrafts } from '../../sim/draft-file.ts'
import type { EngineConnection } from '../../src/engine/log-engine.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { startNode } from '../../test/stage/node-process.ts'
import { table, thousands } from '../stage/report.ts'
import { headOf, runDaybook, startBenchMirror, untilServed } from './cluster-nodes.ts'

const BYTES_MAX = 4 * 1024 * 1024

/** Reads all messages of an engine, as a bare client does. Returns their number and the seconds. */
export async function readAll({
  log,
}: EngineConnection): Promise<Readonly<{ messages: number; seconds: number }>> {
  const began = performance.now()
  const last = await log.last()
  for (let from = 1; from <= last;) from = ((await log.read(from, BYTES_MAX)).at(-1)?.place ?? last) + 1
  return { messages: last, seconds: (performance.now() - began) / 1_000 }
}

/** One history, by several ways: `import`, `cluster move`, an empty node, a backup and a mirror. */
export async function catchUp(
  folder: string,
  events: number,
  engineWords: readonly string[],
  connect: () => Promise<EngineConnection>,
): Promise<string> {
  await using stack = new AsyncDisposableStack()
  const drafts = join(folder, 'history.jsonl')
  const span = { from: msOf(Date.UTC(2022, 0, 1)), to: msOf(Date.UTC(2026, 0, 1)) }
  await writeDrafts(createWriteStream(drafts), bulkLines({ seed: 'cluster', ...span, count: events }))
  const data = join(folder, 'moved')
  const imported = await runDaybook(['import', drafts, '--data', data, '--chain', 'solana', '--development'])
  const node = await startNode(data, [], [], 'cluster')
  const head = await headOf(node.url)
  await node.end('SIGTERM')
  const move = await runDaybook(['cluster', 'move', '--data', data, ...engineWords])
  await using connection = await connect()
  const read = await readAll(connection)

  /** Seconds from the start of a writer on a directory until it serves the newest event. */
  const joins = async (name: string): Promise<Readonly<{ url: string; seconds: number }>> => {
    const began = performance.now()
    const own = join(folder, name)
    const writer = await startNode(own, [...engineWords, '--node-name', name], [], 'cluster')
    stack.defer(async () => void (await writer.end('SIGTERM')))
    await untilServed(writer.url, head)
    return { url: writer.url, seconds: (performance.now() - began) / 1_000 }
  }
  mkdirSync(join(folder, 'empty'))
  cpSync(`${data}.key`, join(folder, 'empty.key'))
  cpSync(`${data}.key`, join(folder, 'restored.key'))
  const empty = await joins('empty')
  const backup = join(folder, 'backup.db')
  await runDaybook(['backup', '--data', join(folder, 'empty'), '--to', backup])
  const restore = await runDaybook(['restore', '--data', join(folder, 'restored'), '--from', backup])
  const restored = await joins('restored')
  const mirrorBegan = performance.now()
  await using mirror = await startBenchMirror(join(folder, 'mirror'), empty.url)
  await untilServed(mirror.url, head)
  const mirrored = (performance.now() - mirrorBegan) / 1_000

  const row = (name: string, seconds: number): readonly string[] => [
    name,
    seconds.toFixed(2),
    thousands(Math.round(head / seconds)),
    (seconds / imported.seconds).toFixed(2),
  ]
  const rows = [
    row('`import` of the same events (the yardstick)', imported.seconds),
    row('`cluster move` onto NATS', move.seconds),
    row(`bare read of its ${thousands(read.messages)} messages`, read.seconds),
    row('empty writer, from NATS', empty.seconds),
    row('writer from a backup: `restore` and start', restore.seconds + restored.seconds),
    row('mirror', mirrored),
  ]
  return [
    `**History of ${thousands(head)} events.** Whole processes, with their start, until they serve the newest event.`,
    '',
    table(['', 'seconds', 'events/s', '÷ import'], rows),
    '',
  ].join('\n')
}
