// SPDX-License-Identifier: Apache-2.0
#include "braintrace/tasks/text_data.h"

namespace braintrace::tasks {

const std::string_view pangrams =
    "the quick brown fox jumps over the lazy dog. pack my box with five dozen liquor jugs. how vexingly quick daft "
    "zebras jump. ";

// Written for this library.
const std::string_view story =
    R"(There was a lamp at the end of the harbour, and an old man who kept it. Every evening he climbed the stairs,
counted the steps, and lit the lamp. Every morning he put it out again, and wrote one line in a book: who had come,
who had gone, and what the wind had done.

The book had many lines, but the old man did not read them. When a boat was late he did not ask the book; he looked at
the water. The water told him what he had to know, for it remembered a little of every wind that had blown. A strong
wind left long waves, and they stayed for a day. A weak wind left short waves, and they were gone within the hour.

One winter a young man came to help him. He was quick and he was proud, and he wanted to know everything. When a boat
was late he opened the book and read it from the end to the beginning, page after page, to find out which of all the
winds had held it back. By the time he had found the answer the boat had come in, or it had not, and the answer was of
no use to anyone.

Why do you not read the book, the young man asked. It is all written there.

It is all written there, said the old man, and that is why I do not read it. Look at the water. Each wave is what is
left of a wind. It grows when the wind blows, and it fades when the wind is gone. I do not keep the winds. I keep the
waves, and the sea keeps them for me. When a boat comes in late, I see which waves are still high, and I know which
wind to blame. I need no more than that, and I need it now.

But the waves forget, said the young man. The book does not.

The waves forget slowly what matters slowly, said the old man, and quickly what matters quickly. Is it not so with you?
You do not remember every step on the stairs, and yet your feet have learned how high they are.

The young man thought about this for a long time. He went on writing one line every morning, because that was his work.
But in the evening he sat beside the old man and learned to read the water. After a year he could tell the wind of
yesterday from the wind of the day before. After two years he knew, before a sail was seen, which boat would be late,
and why, and what should be done about it the next time.

When the old man died, the young man kept the lamp. He counted the steps, and he lit the light, and he wrote his line.
And when a boy came one winter, quick and proud, and asked him why he did not read the book, he smiled and said: look
at the water. It has read the book already.
)";

}  // namespace braintrace::tasks
