/** A value that is known already, or a promise of it. */
export type Eventual<Value> = Value | Promise<Value>

/**
 * Continues with a value. A known value continues in the same turn of the event loop, so that nothing runs between
 * steps.
 */
export function whenKnown<Value, Result>(
  value: Eventual<Value>,
  step: (value: Value) => Eventual<Result>,
): Eventual<Result> {
  return value instanceof Promise ? value.then(step) : step(value)
}

/** Turns an error that `make` throws into a rejected promise. */
export function attempt<Value>(make: () => Eventual<Value>): Eventual<Value> {
  try {
    return make()
  } catch (error) {
    return Promise.reject(error)
  }
}
