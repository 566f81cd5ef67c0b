import { queryObjects } from 'node:v8'

/** Calls a function many times, and returns how many more promises are held after it, for each call. */
export async function promisesHeldBy(call: () => Promise<unknown>, calls: number): Promise<number> {
  await call()
  const before = heldPromises()
  for (let count = 0; count < calls; count++) await call()
  return (heldPromises() - before) / calls
}

/** Promises that something holds. The count collects garbage first, so it is exact. */
function heldPromises(): number {
  return queryObjects(Promise, { format: 'count' })
}
