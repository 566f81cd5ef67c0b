import { get } from 'node:http'
import { text } from 'node:stream/consumers'

// Runs a stranger in its own process. It sends requests at fixed moments, each over a new connection, and prints the
// time of each answer. Reads the plan as JSON from standard input. A late answer does not delay the next request.

export type StrangerPlan = Readonly<{
  port: number
  everyMs: number
  forMs: number
  /** Time limit of an answer. */
  waitMs: number
  /** Addresses, used in turn, so that each stays within its allowance. */
  addresses: readonly string[]
  paths: readonly string[]
}>

/** Milliseconds of each answer. An answer that is late or not 200 counts as `waitMs`. */
export type StrangerResult = Readonly<{ took: readonly number[]; unanswered: number }>

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
const waited: StrangerResult = {
  took: took.map((ms) => ms ?? plan.waitMs),
  unanswered: took.filter((ms) => ms === undefined).length,
}
process.stdout.write(JSON.stringify(waited))

/** Resolves with the milliseconds to the end of the answer; undefined if it is late or not 200. */
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
