import { Worker } from 'node:worker_threads'
import { LATE, openThreadLink } from '../../publish/thread-link.ts'
import type { ToPictureThread } from './picture-thread.ts'
import type { Timed } from '../../serve/fairness/fair-turns.ts'

/** Timeout of a drawing in milliseconds, after which its thread ends. */
const DRAWING_MS_MAX = 10_000
/** Milliseconds without a drawing after which the thread ends, to free its memory. */
const IDLE_MS = 60_000

/** Thread that draws pictures. It starts with the first drawing. */
type PictureDrawing = AsyncDisposable &
  Readonly<{
    /** Draws an SVG as PNG. Rejects when the drawing fails or is late; a new thread then draws the next one. */
    draw(svg: Uint8Array): Promise<Timed<Uint8Array>>
  }>

type DrawingThread = Readonly<{ draw(svg: Uint8Array): Promise<Timed<Uint8Array>>; end(): Promise<unknown> }>

/** Opens the drawing without starting its thread. */
export function openPictureDrawing(idleMs: number = IDLE_MS): PictureDrawing {
  let thread: DrawingThread | undefined
  let idle: NodeJS.Timeout | undefined

  async function stop(): Promise<void> {
    clearTimeout(idle)
    const stopped = thread
    thread = undefined
    await stopped?.end()
  }

  return {
    async draw(svg) {
      clearTimeout(idle)
      thread ??= startThread()
      try {
        return await thread.draw(svg)
      } catch (error) {
        await stop()
        throw error
      } finally {
        clearTimeout(idle)
        idle = setTimeout(() => void stop(), idleMs).unref()
      }
    },
    [Symbol.asyncDispose]: stop,
  }
}

function startThread(): DrawingThread {
  const worker = new Worker(new URL(import.meta.resolve('./picture-thread.ts')))
  const link = openThreadLink<{ sent: ToPictureThread; received: {} }>(worker, {})
  worker.on('error', link.fail)
  worker.on('exit', () => link.fail(new Error('the thread that draws pictures stopped')))
  // The thread alone must not keep the process alive. A new listener would undo this.
  worker.unref()
  return {
    async draw(svg) {
      const drawn = await link.askWithin(DRAWING_MS_MAX, 'draw', svg)
      if (drawn === LATE) throw new Error(`a picture took more than ${DRAWING_MS_MAX} ms`)
      return drawn
    },
    end: () => worker.terminate(),
  }
}
