"""What bAbI's files hold, as published: words, sizes and answers, known without a file.

A test compares them with the files.
"""

from typing import NamedTuple

WORDS = (
    "a above afraid after afternoon afterwards and antoine apple are back bathroom bedroom "
    "before below bernhard bigger bill blue bored box brian carrying cat cats chest chocolate "
    "chocolates cinema color container daniel did discarded do does down dropped east either "
    "emily evening fit fits following football fred frog from garden gave gertrude get give "
    "go got grabbed gray green greg hallway handed he how hungry in inside is jason jeff "
    "jessica john journeyed julie julius kitchen left lily lion longer many mary mice milk "
    "morning mouse moved no north not objects of office or pajamas park passed picked pink "
    "put received rectangle red rhino right sandra school she sheep south sphere square "
    "suitcase sumit swan than that the then there they thirsty this tired to took travelled "
    "triangle up was went west what where white who why will winona wolf wolves yann yellow "
    "yesterday you"
)
"""Of all kinds of questions, in lower case, separated by spaces."""

_PLACES = "bathroom bedroom garden hallway kitchen office"
_YES_NO = "no yes"
_GIVEN = "apple bill football fred jeff mary milk"
_NUMBERS = "none one three two"
_LISTS = (
    "apple apple,football apple,football,milk apple,milk apple,milk,football football "
    "football,apple football,apple,milk football,milk milk milk,apple milk,football "
    "milk,football,apple nothing"
)
_TOWN = "bedroom cinema kitchen office park school"
_PATHS = "e,e e,n e,s n,e n,n n,w s,e s,s s,w w,n w,s w,w"
_MOTIVES = "bedroom bored garden hungry kitchen thirsty tired"


class Kind(NamedTuple):
    """One kind of questions: the greatest sizes of its texts, and its answers.

    Args:
        statements, words, question, facts: in a text; in a statement; in a question; that an answer
            follows from.
        fewest_facts: that an answer follows from.
        commonest: how often the most frequent answer is right: among the training questions, those
            that are left out for validation, and the 1,000 test questions.
        by_question: how many of the test questions are right if nothing is read: by the answer that
            is most frequent where the training asks the same, or, of new questions, in all.
        answers: all, in lower case, separated by spaces.
        validated: the number of the last of the 1,000 published training questions that are for
            validation; they begin with a text, of which a question may ask again.
    """

    statements: int
    words: int
    question: int
    facts: int
    fewest_facts: int
    commonest: tuple[int, int, int]
    by_question: int
    answers: str
    validated: int = 100


KINDS = (
    Kind(10, 6, 3, 1, 1, (164, 24, 187), 156, _PLACES),
    Kind(88, 6, 4, 2, 2, (200, 26, 187), 187, _PLACES),
    Kind(228, 6, 7, 3, 3, (182, 24, 215), 199, _PLACES),
    Kind(2, 7, 6, 1, 1, (167, 24, 177), 200, _PLACES),
    Kind(102, 6, 7, 1, 1, (154, 23, 189), 332, _GIVEN),
    Kind(26, 6, 5, 1, 1, (450, 58, 503), 510, _YES_NO),
    Kind(34, 6, 6, 8, 1, (434, 54, 488), 482, _NUMBERS),
    Kind(58, 6, 4, 8, 1, (314, 30, 336), 336, _LISTS),
    Kind(10, 7, 5, 1, 1, (561, 72, 638), 617, _YES_NO),
    Kind(10, 9, 5, 1, 1, (418, 48, 437), 440, "maybe no yes"),
    Kind(10, 8, 3, 2, 2, (173, 25, 187), 173, _PLACES),
    Kind(10, 8, 3, 1, 1, (164, 22, 189), 174, _PLACES),
    Kind(10, 8, 3, 2, 2, (179, 22, 183), 144, _PLACES),
    Kind(14, 8, 6, 2, 2, (160, 23, 177), 218, _TOWN),
    Kind(8, 5, 5, 2, 2, (259, 31, 341), 218, "cat mouse sheep wolf"),
    Kind(9, 4, 4, 3, 3, (253, 29, 257), 239, "gray green white yellow"),
    Kind(2, 11, 11, 2, 2, (459, 50, 520), 490, _YES_NO, validated=96),
    Kind(15, 9, 9, 2, 2, (458, 49, 531), 924, _YES_NO, validated=96),
    Kind(5, 7, 10, 2, 2, (86, 13, 93), 79, _PATHS),
    Kind(12, 6, 7, 1, 1, (167, 19, 180), 721, _MOTIVES, validated=91),
)
"""Kinds 1 to 20."""

MD5 = (
    ("b3d2196a7dd5d8c65b2ddc17a34d76bd", "d33488e97ced71fabb9381ee273a66d3"),
    ("4b0568df2bc9946408b3ba69ef1b78f9", "dd4b3eb2de365efe93eecfa67b3988f0"),
    ("f169fe223a687ff3a9e21bf0c98a02b9", "c78f5b0c59c278deae7493dbc5f65626"),
    ("a1fc439c292b72657a0bd0a464784c92", "70d4cec7286d2a5ce73501eabba4ffdc"),
    ("2bc8cf0da71a900732e2cc647bf4514c", "2cf6f2134b9dac40d1e57a75ed1f4b35"),
    ("67ba903b50ba4869ce4d04be578ebc69", "aecebb00ca94af658ea6dd3e2d5a1004"),
    ("1a5235bc8cb1ea780f5427b3bb59f089", "f1e78a8a0fd0ed94de4e872a48fe1b28"),
    ("e659defa5443771481274b41d7f857ca", "56166f60577ebbac4d195133b54551f0"),
    ("86ea0832a682096157fe73003ddf68a7", "69b8ed3da50e03b56c0ad1e44f410731"),
    ("0ef5628c13db273e9daae923e03e117d", "f0d77cf3e646b9daa4ec3c2a21a8401d"),
    ("c6f9d1123893b567a698b29a3c86a7ec", "037385cbc6f74433d906cb61b5bf0f44"),
    ("6385fb8a9e0bd282c38ec82435e8281f", "4b599627b9452558cc9a1875e59dafa9"),
    ("e54ff427d64b90e36feb08b3a3dbdc57", "96f6dbbb74b719706d4dfb79546150b8"),
    ("5b5be4de2f8edd4351ac1ab9c0beea12", "2f5c0cd4e42f53925be1b677db999cb1"),
    ("f7b814a139b1139735ab96b9ac6e3a9a", "135db07bf613444c5c9636aa051fb93d"),
    ("69f726fcc30abc3e412483d573f80963", "9ee715176a82862d8fc65440cd1c71d8"),
    ("820551ce0c53e61ad3a7ff6185a0cac3", "bb108b8290f963cd361c26f7ef058ec5"),
    ("1c32d0545a8cf5a26777041873a2ba55", "a2af390670baf39c72e4052e5c15d083"),
    ("42677eed7987c1ded046682743864687", "b317a287f6780b941bb876047418e6ca"),
    ("e5114c487cb1cf559a69db30289ea4ab", "3238749cfa9731bcdb0c4d01114385bd"),
)
"""Of the training and the test file of kinds 1 to 20."""
