import { FEED_PACE } from '../../../src/witness/feed/feed-settings.ts'

/** Loaded into each thread of a writer before its own code (`--import`). Witnesses are asked more often. */
Object.assign(FEED_PACE, { roundMs: 500, idleMs: 4_000 })
