import { LIST_SENTENCES } from './list-sentences.ts'
import { MONTH_SENTENCES } from './month-sentences.ts'
import { WALK_PAGE_EVENTS, PAGE_SENTENCES, readWindow, WINDOW_EVENTS } from './page-sentences.ts'
import type { ConformPart } from './part.ts'
import { STREAM_SENTENCES } from './stream-sentences.ts'
import { get, walkPart } from './walk-part.ts'

/** Walks: the same events and lists, read in several ways. */
export const WALKS: readonly ConformPart[] = [
  walkPart(
    'walk-events',
    {
      sentence: 'Page by page the events come in order, without a gap.',
      requests: WINDOW_EVENTS / WALK_PAGE_EVENTS,
      read: readWindow,
    },
    [...PAGE_SENTENCES, ...STREAM_SENTENCES, ...MONTH_SENTENCES],
  ),
  walkPart(
    'walk-lists',
    {
      sentence: 'The index of the API is answered.',
      requests: 1,
      async read(run) {
        await get(run, '/api/v1')
        return null
      },
    },
    LIST_SENTENCES,
  ),
]
