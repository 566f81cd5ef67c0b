import type { LogReader } from '../../log/store/reader.ts'
import type { AnswerJob } from '../../serve/request/answer-job.ts'
import type { AnswerElsewhere } from '../../serve/request/request-path.ts'
import type { Timed } from '../../serve/fairness/fair-places.ts'
import type { Reply } from '../../serve/http/route.ts'
import {
  type AnswerCache,
  openAnswerCache,
  openSharedAnswers,
  type SharedAnswers,
} from '../../serve/request/answer-cache.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import { openPictures } from '../../serve/request/pictures.ts'
import { openScripts } from '../../web/assets/assets.ts'
import { DEFAULT_SITE } from '../../web/markup/site.ts'
import { ANSWER_THREADS, openAnswerThreads } from './answer-threads.ts'
import { openNodeWords, shownPresent, type ShownSettings } from './front-routes.ts'
import { openPictureDrawing } from './picture-drawing.ts'
import type { FrontSettings, FrontTools } from './front-settings.ts'
import type { FrontMemory } from './front-memory.ts'
import { hostInUrl } from '../terminal/log-address.ts'

const STATUS_PATH = ENDPOINT_PATHS.status

/** Opens the answers that answer threads make and all callers of this thread share. */
export function openAnswers(
  settings: FrontSettings,
  memory: FrontMemory,
  reader: LogReader,
  { context }: FrontTools,
  stack: AsyncDisposableStack,
): Pick<SharedAnswers, 'waiting'> &
  Readonly<{
    answer: AnswerElsewhere
    cache: AnswerCache
    /** Number of pictures that wait to be drawn. */
    picturesWaiting(): number
    scripts: ReturnType<typeof openScripts>
    listens(port: number): void
  }> {
  const scripts = openScripts()
  let { port } = settings
  const threads = openAnswerThreads(
    () => ({ data: settings.data, head: memory.head, ...shownBy(settings, memory, port) }),
    { scripts },
  )
  stack.use(threads)
  const make = async (job: AnswerJob): Promise<Timed<Reply>> => {
    const { reply, head, tookMs } = await threads.make(job)
    // If the answer saw a newer head, this thread's streams get it before the answer is sent.
    if (head > reader.head().seq) reader.snapshot(() => undefined)
    return { value: reply, tookMs }
  }
  const reports = openNodeWords(shownBy(settings, memory, port))
  const cache = openAnswerCache((path) => {
    const shown = shownPresent(reader, reports, context.now())
    return path === STATUS_PATH ? `${shown} ${reports.version()}` : shown
  })
  const { monotonicMs } = context
  const shared = openSharedAnswers({ cache, places: ANSWER_THREADS, make, monotonicMs })
  const drawing = openPictureDrawing()
  stack.use(drawing)
  const pictures = openPictures({ draw: drawing.draw, monotonicMs })
  return {
    cache,
    async answer(caller, job, gone) {
      return pictures.finish(caller, job, await shared.answer(caller, job, gone), gone)
    },
    waiting: shared.waiting,
    picturesWaiting: pictures.waiting,
    scripts,
    listens: (at) => {
      port = at
    },
  }
}

/** Settings that answers show. The site's address is `publicUrl`, or else the address of the listener. */
export function shownBy(
  { site, publicUrl, host, asksChain, mirrorOf, following: follows }: FrontSettings,
  memory: Pick<FrontMemory, 'mirror' | 'following'>,
  port: number,
): ShownSettings {
  const name = EVERY_ADDRESS.has(host) ? 'localhost' : host
  const url = publicUrl ?? `http://${hostInUrl(name)}:${port}`
  const mirror = mirrorOf === null ? null : memory.mirror
  const following = follows && mirrorOf === null ? memory.following : null
  return { site: { ...DEFAULT_SITE, ...site, url }, asksChain, mirror, following }
}

/** Hosts of a listener on every address of the machine. */
const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])
