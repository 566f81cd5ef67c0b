import { get } from 'node:http'
import { text } from 'node:stream/consumers'

// A stranger, in a process of its own: asks at fixed moments, each time over a new connection, and tells how long each
// answer took. Its plan comes as JSON on the standard input. An answer that is late does not delay the next question.

export type StrangerPlan = Readonly<{
  port: number
  everyMs: number
  forMs: number
  /** An answer that has not come by then is not waited for. */
  waitMs: number
  /** Used in turn, so that each stays within its allowance. */
  addresses: readonly string[]
  paths: readonly string[]
}>

/** Milliseconds of each answer; what was not answered with 200 counts as `waitMs`. */
export type Waited = Readonly<{ took: readonly number[]; unanswered: number }>

const plan = JSON.parse(await text(process.stdin)) as StrangerPlan
const waiting: Promise<number | undefined>[] = []
await new Promise<void>((resolve) => {
  const count = Math.floor(plan.forMs / plan.everyMs)
  const timer = setInterval(() => {
    waiting.push(ask(waiting.length))
    if (waiting.length < count) return
    clearInterval(timer)
    resolve()
  }, plan.everyMs)
})
const took = await Promise.all(waiting)
const waited: Waited = {
  took: took.map((ms) => ms ?? plan.waitMs),
  unanswered: took.filter((ms) => ms === undefined).length,
}
process.stdout.write(JSON.stringify(waited))

/** Settles with the milliseconds to the end of the answer; undefined without a 200 in time. */
function ask(number: number): Promise<number | undefined> {
  const { port, waitMs } = plan
  const localAddress = plan.addresses[number % plan.addresses.length]
  const path = plan.paths[number % plan.paths.length]
  const beganMs = performance.now()
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(waitMs)
    const options = { port, host: '127.0.0.1', path, localAddress, agent: false, signal }
    get(options, (response) => {
      response.resume()
      response.on('error', () => resolve(undefined))
      response.on('end', () => resolve(response.statusCode === 200 ? performance.now() - beganMs : undefined))
    }).on('error', () => resolve(undefined))
  })
}
