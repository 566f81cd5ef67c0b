import './island-still.ts'
import { startVerify, type WitnessChecks } from './island-verify-forms.ts'
import { NotServed } from './island-verify-log.ts'

// Script of the page of checks, which run in the browser. Its policy allows requests to its own server alone.
startVerify({ chain: null, openWitnesses })

/** Loads the checks of witnesses, which few readers ask for. */
async function openWitnesses(form: HTMLFormElement): Promise<WitnessChecks> {
  const path = form.closest<HTMLElement>('[data-checks]')?.dataset['witnesses'] ?? ''
  try {
    const checks: WitnessChecks = await import(path)
    return checks
  } catch {
    throw new NotServed('The part of this page that checks witnesses could not be loaded')
  }
}
