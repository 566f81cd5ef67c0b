import type { LogReader } from '../../log/store/reader.ts'
import type { AnswerInTurn, Question } from '../../serve/exchange/thread-question.ts'
import type { Timed } from '../../serve/fairness/fair-places.ts'
import type { Reply } from '../../serve/http/route.ts'
import { openSharedAnswers, type SharedAnswers } from '../../serve/exchange/shared-answers.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import { openPictures } from '../../serve/exchange/pictures.ts'
import { openScripts } from '../../web/assets/assets.ts'
import { DEFAULT_SITE } from '../../web/markup/site.ts'
import { hostInUrl } from '../terminal/host-in-url.ts'
import { ANSWER_THREADS, openAnswerThreads } from './answer-threads.ts'
import { openNodeWords, shownPresent, type ShownSettings } from './front-routes.ts'
import { openPictureDrawing } from './picture-drawing.ts'
import type { FrontSettings, FrontTools } from './front-settings.ts'
import type { FrontMemory } from './front-memory.ts'

const STATUS_PATH = ENDPOINT_PATHS.status

/** Opens the answers that answer threads make and all callers of this thread share. */
export function openAnswers(
  settings: FrontSettings,
  memory: FrontMemory,
  reader: LogReader,
  { world }: FrontTools,
  stack: AsyncDisposableStack,
): Pick<SharedAnswers, 'waiting'> &
  Readonly<{
    answer: AnswerInTurn
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
  const ask = async (question: Question): Promise<Timed<Reply>> => {
    const { reply, head, tookMs } = await threads.ask(question)
    // If the answer saw a newer head, this thread's streams get it before the answer is sent.
    if (head > reader.head().seq) reader.snapshot(() => undefined)
    return { value: reply, tookMs }
  }
  const reports = openNodeWords(shownBy(settings, memory, port))
  const present = ({ now, path }: Question): string => {
    const shown = shownPresent(reader, reports, now)
    return path === STATUS_PATH ? `${shown} ${reports.version()}` : shown
  }
  const { monotonicMs } = world
  const shared = openSharedAnswers({ places: ANSWER_THREADS, ask, present, monotonicMs })
  const drawing = openPictureDrawing()
  stack.use(drawing)
  const pictures = openPictures({ draw: drawing.draw, monotonicMs })
  return {
    async answer(caller, question, gone) {
      return pictures.finish(caller, question, await shared.answer(caller, question, gone), gone)
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
