import { LRUCache } from 'lru-cache'
import { assert } from '../../protocol/brand.ts'
import { names } from '../http/etag.ts'
import { problemReply, type Reply } from '../http/route.ts'
import type { AnswerJob } from './answer-job.ts'
import { openFairPlaces, type Timed } from '../fairness/fair-turns.ts'

/** Bytes of PNG pictures that a serving thread caches: about 400 of them. */
const PICTURE_BYTES_MAX = 16 * 1024 * 1024
/** Most pictures that wait to be drawn: about two seconds of drawing. More get 503. */
export const PICTURES_WAITING_MAX = 64
/** Most pictures of one caller that wait to be drawn. More get 503. */
export const CALLER_PICTURES_WAITING_MAX = 8
/** Seconds after which a refused caller may ask again. */
const RETRY_SECONDS = 2
/** Rows charged for a newly drawn picture, so that an address gets 60 of them in 60 s. */
const DRAWN_ROWS = 9_000

type CodedReply = Extract<Reply, { is: 'coded' }>

/** PNG pictures, which another thread draws from the SVG of a reply. */
type Pictures = Readonly<{
  /**
   * Returns the reply with its SVG drawn as PNG, and any other reply unchanged. Draws nothing if `gone` returns true.
   */
  finish(caller: string, job: AnswerJob, reply: Reply, gone?: () => boolean): Promise<Reply>
  /** Number of pictures that wait to be drawn. */
  waiting(): number
}>

type PicturesSettings = Readonly<{
  /** Draws one picture. Only one call is open at a time. */
  draw(svg: Uint8Array): Promise<Timed<Uint8Array>>
  monotonicMs(): number
  bytesMax?: number
}>

/**
 * Opens the pictures of a serving thread. They are cached by the digest of their SVG, and concurrent requests for equal
 * pictures share one drawing. Callers take turns.
 */
export function openPictures({
  draw,
  monotonicMs,
  bytesMax = PICTURE_BYTES_MAX,
}: PicturesSettings): Pictures {
  const turns = openFairPlaces(1, monotonicMs)
  const cached = new LRUCache<string, Uint8Array>({
    maxSize: bytesMax,
    sizeCalculation: (png) => png.byteLength,
  })
  const drawing = new Map<string, Promise<Timed<Uint8Array>>>()
  const waitingOf = new Map<string, number>()

  async function drawAndCache(etag: string, svg: Uint8Array): Promise<Timed<Uint8Array>> {
    const drawn = await draw(svg)
    cached.set(etag, drawn.value)
    return drawn
  }

  /** Shares a drawing in progress, and uses one that ended while the caller waited. */
  function share(etag: string, svg: Uint8Array): Promise<Timed<Uint8Array>> {
    const found = cached.get(etag)
    if (found !== undefined) return Promise.resolve({ value: found, tookMs: 0 })
    const known = drawing.get(etag) ?? drawAndCache(etag, svg).finally(() => drawing.delete(etag))
    drawing.set(etag, known)
    return known
  }

  async function wait(
    caller: string,
    work: () => Promise<Timed<Uint8Array | null>>,
  ): Promise<Uint8Array | null> {
    waitingOf.set(caller, (waitingOf.get(caller) ?? 0) + 1)
    try {
      return await turns.run(caller, work)
    } finally {
      const rest = (waitingOf.get(caller) ?? 1) - 1
      if (rest === 0) waitingOf.delete(caller)
      else waitingOf.set(caller, rest)
    }
  }

  return {
    async finish(caller, { ifNoneMatch }, reply, gone = () => false) {
      if (reply.is !== 'coded' || reply.picture !== true) return reply
      const { etag, body } = reply
      assert(etag !== null, 'the SVG of a picture has a digest')
      // A caller that has the picture needs no drawing.
      if (names(ifNoneMatch, etag)) return reply
      const found = cached.get(etag)
      if (found !== undefined) return drawnReply(reply, found, 0)
      const own = waitingOf.get(caller) ?? 0
      if (own >= CALLER_PICTURES_WAITING_MAX || turns.waiting() >= PICTURES_WAITING_MAX) return TOO_MANY
      const png = await wait(caller, () => (gone() ? Promise.resolve(NOBODY) : share(etag, body)))
      return png === null ? { is: 'streamed' } : drawnReply(reply, png, DRAWN_ROWS)
    },
    waiting: turns.waiting,
  }
}

/** Result for a caller that has left. */
const NOBODY: Timed<null> = { value: null, tookMs: 0 }

const TOO_MANY: Reply = problemReply({
  code: 'picture-capacity',
  detail: 'Too many pictures wait to be drawn.',
  retryAfterSeconds: RETRY_SECONDS,
})

/** Reply with its PNG instead of the SVG. */
function drawnReply(reply: CodedReply, png: Uint8Array, rows: number): CodedReply {
  return { ...reply, body: png, rows: reply.rows + rows }
}
