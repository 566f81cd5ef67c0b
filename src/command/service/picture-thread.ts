import { type MessagePort, parentPort } from 'node:worker_threads'
import { assert } from '../../protocol/brand.ts'
import { openThreadLink, transferring } from '../../publish/thread-link.ts'
import type { Timed } from '../../serve/fairness/fair-turns.ts'
import { yieldToServing } from './thread-priority.ts'
import { openRasteriser } from '../../web/preview/rasterise.ts'

/** Messages to the thread. */
export type ToPictureThread = Readonly<{
  /** Draws an SVG as PNG. */
  draw(svg: Uint8Array): Promise<Timed<Uint8Array<ArrayBuffer>>>
}>

/** Draws pictures for one serving thread. */
function run(port: MessagePort): void {
  yieldToServing(process.platform)
  const rasteriser = openRasteriser()
  openThreadLink<{ sent: {}; received: ToPictureThread }>(port, {
    async draw(svg) {
      const before = process.threadCpuUsage()
      const rasterise = await rasteriser
      const png = new Uint8Array(rasterise(Buffer.from(svg).toString('utf8')))
      const { user, system } = process.threadCpuUsage(before)
      return transferring({ value: png, tookMs: (user + system) / 1_000 }, [png.buffer])
    },
  })
}

assert(parentPort !== null, 'pictures are drawn in a thread of their own')
run(parentPort)
