import type { Endpoint } from './endpoint.ts'
import { ENDPOINT_PATHS } from './paths.ts'

/** The log's own files: what anyone checks its history with. */
export const LOG_ENDPOINTS: readonly Endpoint[] = [
  {
    id: 'logCheckpoint',
    path: ENDPOINT_PATHS.logCheckpoint,
    answer: 'text/plain',
    caching: 'revalidate',
    meaning: 'The signed size and root of the tree over all events: a C2SP checkpoint',
    parameters: [],
  },
  {
    id: 'logTile',
    path: ENDPOINT_PATHS.logTile,
    answer: 'application/octet-stream',
    caching: 'immutable',
    meaning: 'Up to 256 hashes of one level of the tree: a C2SP tile',
    parameters: [],
  },
  {
    id: 'logEntries',
    path: ENDPOINT_PATHS.logEntries,
    answer: 'application/octet-stream',
    caching: 'immutable',
    meaning: 'Up to 256 events with their details, as they are hashed: a C2SP entry bundle',
    parameters: [],
  },
  {
    id: 'logKeys',
    path: ENDPOINT_PATHS.logKeys,
    answer: 'LogKeys',
    caching: 'revalidate',
    meaning: 'Every key that signs or ever signed the log, and the logs that it goes on from',
    parameters: [],
  },
  {
    id: 'logProof',
    path: ENDPOINT_PATHS.logProof,
    answer: 'text/plain',
    caching: 'revalidate',
    meaning:
      'A receipt that an event is in the log: its inclusion proof with the checkpoint, in one C2SP file',
    parameters: [],
  },
]
