import { type MessagePort, parentPort } from 'node:worker_threads'
import { assert } from '../../protocol/brand.ts'
import { yieldToServing } from './thread-priority.ts'
import { openRasteriser } from '../../web/preview/rasterise.ts'

/** Message to the thread: an SVG to draw. */
export type ToPictureThread = Readonly<{ id: number; svg: Uint8Array }>

/** Message from the thread: a PNG and its processor time in milliseconds, or a failure. */
export type FromPictureThread = Readonly<{ id: number }> &
  (
    | Readonly<{ is: 'drawn'; png: Uint8Array<ArrayBuffer>; tookMs: number }>
    | Readonly<{ is: 'failed'; error: unknown }>
  )

/** Draws pictures for one serving thread. */
function run(port: MessagePort): void {
  yieldToServing(process.platform)
  const rasteriser = openRasteriser()
  port.on('message', ({ id, svg }: ToPictureThread) => {
    const before = process.threadCpuUsage()
    rasteriser
      .then((rasterise) => {
        const png = new Uint8Array(rasterise(Buffer.from(svg).toString('utf8')))
        const { user, system } = process.threadCpuUsage(before)
        const drawn: FromPictureThread = { is: 'drawn', id, png, tookMs: (user + system) / 1_000 }
        port.postMessage(drawn, [png.buffer])
      })
      .catch((error: unknown) => {
        const failed: FromPictureThread = { is: 'failed', id, error }
        port.postMessage(failed)
      })
  })
}

assert(parentPort !== null, 'pictures are drawn in a thread of their own')
run(parentPort)
