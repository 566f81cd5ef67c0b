import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openMirroring } from '../mirroring.ts'
import { assert } from '../../protocol/brand.ts'
import { reasonOf } from '../../protocol/error-reason.ts'
import { msOf } from '../../protocol/moment.ts'
import type { FromMirror, MirrorThreadSettings, ToMirror } from './mirror-messages.ts'
import { askOriginForHead } from './origin-barrier.ts'
import { openHeadCell } from '../../log/head-cell.ts'

/** Milliseconds between two reports of the state, whose delay grows with time. */
const STATE_MS = 1_000

/**
 * Runs the thread that follows the origin, with the only writing connection to the store. This is the composition root
 * of the thread, so it may read the clock.
 */
async function run(port: MessagePort, settings: MirrorThreadSettings): Promise<void> {
  const { head, barrier, ...own } = settings
  const send = (message: FromMirror): void => port.postMessage(message)
  process.on('unhandledRejection', (error) => send({ is: 'broken', reason: reasonOf(error) }))
  const stop = new AbortController()

  using mirroring = openMirroring({ ...own, now: () => msOf(Date.now()), around: {} }, openHeadCell(head), {
    onCommitted(commit) {
      send({ is: 'committed', commit })
      // The state is complete when the synchronous end of the proof is over.
      setImmediate(sendState)
    },
    onFault(reason) {
      send({ is: 'fault', reason })
      sendState()
    },
  })
  port.on('message', (message: ToMirror) => {
    if (message.is === 'close') stop.abort()
    else mirroring.show(message.note)
  })
  let sent = ''
  function sendState(): void {
    const state = mirroring.state()
    const text = JSON.stringify(state)
    if (text !== sent) send({ is: 'state', state })
    sent = text
  }
  sendState()
  const looking = setInterval(sendState, STATE_MS)
  const origin = {
    url: settings.url,
    log: mirroring.state().log,
    follows: () => mirroring.state().contradicted === null,
  }
  const barriers = askOriginForHead(barrier, origin, stop.signal)
  try {
    const ended = await mirroring.run(stop.signal)
    if (ended.is === 'contradicted') {
      sendState()
      send({ is: 'contradicted', found: ended })
    }
  } catch (error) {
    send({ is: 'broken', reason: `the mirror cannot continue: ${reasonOf(error)}` })
  }
  await barriers
  clearInterval(looking)
  port.close()
}

assert(parentPort !== null, 'a mirror follows its origin in a thread of its own')
const settings: MirrorThreadSettings = workerData
await run(parentPort, settings)
