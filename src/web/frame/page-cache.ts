import type { Reply } from '../../serve/http/route.ts'

/** Pages written lately, so that all who ask for one while nothing changes share one writing of it. */
export type PageCache = Readonly<{
  /** The page under a key at a state of the log and the clock: as it is kept, or made now. */
  reply(key: string, present: string, make: () => Promise<Reply>): Promise<Reply>
}>

type Kept = { present: string; reply: Promise<Reply>; bytes: number }

const PAGES_MAX = 256
const BYTES_MAX = 16 * 1024 * 1024

/** Keeps the pages used last, at most 256 of them and `bytesMax` together. */
export function openPageCache(bytesMax: number = BYTES_MAX): PageCache {
  // A Map keeps the order of insertion: the first key is the one used longest ago.
  const pages = new Map<string, Kept>()
  let bytes = 0

  function forget(key: string): void {
    bytes -= pages.get(key)?.bytes ?? 0
    pages.delete(key)
  }

  /** Learns what a page weighs once it is written; what is no page is not kept. */
  async function weigh(key: string, kept: Kept): Promise<void> {
    const written = await kept.reply.catch(() => undefined)
    if (pages.get(key) !== kept) return
    if (written?.is !== 'body' || written.status !== undefined) return forget(key)
    kept.bytes = Buffer.byteLength(written.body)
    bytes += kept.bytes
    while (bytes > bytesMax) {
      const oldest = pages.keys().next()
      if (oldest.done === true) return
      forget(oldest.value)
    }
  }

  return {
    reply(key, present, make) {
      const found = pages.get(key)
      const kept = found?.present === present ? found : { present, reply: make(), bytes: 0 }
      if (kept === found) pages.delete(key)
      else forget(key)
      pages.set(key, kept)
      if (kept !== found) {
        const [oldest = key] = pages.keys()
        if (pages.size > PAGES_MAX) forget(oldest)
        void weigh(key, kept)
      }
      return kept.reply
    },
  }
}
