/** Runs work for each value, a number of them at a time, until all are done or `stop` aborts. */
export async function inTurns<Value>(
  values: readonly Value[],
  jobs: number,
  stop: AbortSignal,
  work: (value: Value) => Promise<void>,
): Promise<void> {
  let next = 0
  const run = async (): Promise<void> => {
    for (let index = next++; index < values.length && !stop.aborted; index = next++)
      await work(values[index] as Value)
  }
  await Promise.all(Array.from({ length: jobs }, run))
}
