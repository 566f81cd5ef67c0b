import { runCheck } from './island-verify-forms.ts'

// Module of the check of a receipt, which its page loads when a reader asks for it.

/** Runs the check of a receipt's form, and shows its steps there. */
export function checkReceipt(form: HTMLFormElement): Promise<void> {
  return runCheck(form, { chain: null, openWitnesses: null })
}
