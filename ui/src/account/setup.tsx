export default function Setup() {
  return (
    <main className="mx-auto mt-[15vh] max-w-sm p-4">
      <h1>Create the first administrator</h1>
    </main>
  );
}
