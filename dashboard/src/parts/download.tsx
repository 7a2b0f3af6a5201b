/** A button that saves a text as a file, each byte as it came. */

/** A browser reads what it saves some time after the click. */
const READ_MS = 60_000;

interface Props {
  text: string;
  /** Of the file. */
  name: string;
  label: string;
}

export function Download({ text, name, label }: Props) {
  const save = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    // It is saved, and never opened in the place of the page.
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), READ_MS);
  };
  return (
    <button type="button" class="small" aria-label={label} onClick={save}>
      Download
    </button>
  );
}
