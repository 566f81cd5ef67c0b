import { LRUCache } from 'lru-cache'
import type { Reply } from '../../serve/http/route.ts'

/** Cache of rendered pages, so that concurrent and repeated requests share one render. */
export type PageCache = Readonly<{
  /** The cached page of a key in this state of the log and the clock, or one that `make` renders. */
  reply(key: string, present: string, make: () => Promise<Reply>): Promise<Reply>
}>

type KeptPage = Readonly<{ present: string; reply: Promise<Reply> }>

const PAGES_MAX = 256
const BYTES_MAX = 16 * 1024 * 1024

/** Opens a cache of the pages used last: at most 256 pages, and `bytesMax` bytes together. */
export function openPageCache(bytesMax: number = BYTES_MAX): PageCache {
  const pages = new LRUCache<string, KeptPage>({ max: PAGES_MAX, maxSize: bytesMax })

  /** Replaces a page in progress by the page and its size. Redirects, refusals and failures are dropped. */
  async function settle(key: string, kept: KeptPage): Promise<void> {
    const written = await kept.reply.catch(() => undefined)
    if (pages.peek(key) !== kept) return
    if (written?.is !== 'body' || written.status !== undefined) pages.delete(key)
    else pages.set(key, { ...kept }, { size: Math.max(1, Buffer.byteLength(written.body)) })
  }

  return {
    reply(key, present, make) {
      const found = pages.get(key)
      if (found?.present === present) return found.reply
      const kept = { present, reply: make() }
      pages.set(key, kept, { size: 1 })
      void settle(key, kept)
      return kept.reply
    },
  }
}
