import { Session } from 'node:inspector'
import { isMainThread } from 'node:worker_threads'

// Preloaded into every thread of a service. Each time its parent process asks, it sends the functions of `src` that each
// thread has entered since the last time.

/** A thread's functions that were entered, each as `file:offset name`. */
export type Entered = readonly string[]

const SOURCE = /\/src\/.*\.[jt]s$/
const session = new Session()
const threads = new BroadcastChannel('entered')

session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

function entered(): Entered {
  let taken: Entered = []
  session.post('Profiler.takePreciseCoverage', (_, { result }) => {
    const scripts = result.filter(({ url }) => SOURCE.test(url))
    taken = scripts.flatMap(({ url, functions }) =>
      functions.flatMap(({ functionName, ranges: [range] }) =>
        range !== undefined && range.count > 0
          ? [`${url.slice(url.indexOf('/src/') + 1)}:${range.startOffset} ${functionName}`]
          : [],
      ),
    )
  })
  return taken
}

if (isMainThread) {
  process.on('message', () => {
    threads.postMessage('take')
    process.send?.(entered())
  })
  process.channel?.unref()
  threads.addEventListener('message', ({ data }) => void process.send?.(data))
} else {
  threads.addEventListener('message', ({ data }) => {
    if (data === 'take') threads.postMessage(entered())
  })
}
Reflect.apply(Reflect.get(threads, 'unref'), threads, [])
