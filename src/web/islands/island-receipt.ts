import './island-frame.ts'

// Script of a receipt. The check is loaded when a reader asks for it.

type ReceiptModule = typeof import('./island-verify-receipt.ts')

async function check(form: HTMLFormElement): Promise<void> {
  const { checkReceipt }: ReceiptModule = await import(form.dataset['module'] ?? '')
  await checkReceipt(form)
}

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-check]')) {
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    // Without the module the page of checks does the same.
    check(form).catch(() => form.submit())
  })
}
