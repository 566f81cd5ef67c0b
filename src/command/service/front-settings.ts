import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Site } from '../../web/markup/site.ts'
import type { World } from '../terminal/world.ts'

/** What a thread that serves is told; it may be handed from thread to thread. */
export type FrontSettings = Readonly<{
  data: string
  host: string
  port: number
  /** Several threads listen on the same port. */
  reusePort: boolean
  /** CIDRs of the proxies whose X-Forwarded-For counts; empty for none. */
  trustProxy: string
  /** `redis://…` of the store that several machines share; null = this node's own memory. */
  limitStore: string | null
  streamsMax: number
  /** Milliseconds over which streams end when the service stops. */
  drainMs: number
  /** Connections that this thread takes. */
  connectionsMax: number
  /** What the operator says of the site on its pages; `DEFAULT_SITE` unless it is said. */
  site?: Omit<Site, 'url'>
  /** The address that the site has for the world; that of the listener where it is not said. */
  publicUrl?: string | null
}>

/** What a front uses of the thread that it runs in. */
export type FrontTools = Readonly<{
  world: Pick<World, 'now' | 'monotonicMs' | 'random'>
  log: Logger
  registry: Registry
}>
